"""Formulas between dollar signs become MathML when the site is built: a reader needs no script and no network."""

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
TAG = re.compile(r"\\tag\{(\w+)\}")
WORD = re.compile(r'<mrow>((?:<mi mathvariant="normal">\w</mi>){2,})</mrow>')
ENTITY = re.compile(r"&#x(\w+);")
CLOSE = re.compile(r'<mo(?: stretchy="false")?>([|/.])</mo>')  # no space around these
# Browsers know no variant but "normal": letters of other alphabets have characters of their own.
SCRIPT = re.compile(r'<mi mathvariant="script">([A-Z])</mi>')
SCRIPT_LETTERS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵", strict=True))


def on_page_content(html: str, **_: Any) -> str:
    """Replace the formulas of a page; a numbered one gets its number at the right."""
    return FORMULA.sub(lambda match: formula(unescape(match[2]).strip(), match[1] == "div"), html)


def formula(tex: str, block: bool) -> str:
    """LaTeX as MathML."""
    number = TAG.search(tex)
    mathml = convert(aligned(TAG.sub("", tex)), display="block" if block else "inline")
    mathml = ENTITY.sub(character, mathml).replace('mathvariant="sans-serif"', 'mathvariant="normal"')
    mathml = CLOSE.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', mathml)
    mathml = WORD.sub(lambda m: f"<mi>{re.sub('<.*?>', '', m[1])}</mi>", mathml)
    mathml = SCRIPT.sub(lambda m: f"<mi>{SCRIPT_LETTERS[m[1]]}</mi>", mathml)
    if not block:
        return mathml
    anchor = f'<span class="number" id="eq-{number[1]}">({number[1]})</span>' if number else ""
    return f'<div class="formula"><div>{mathml}</div>{anchor}</div>'


def character(entity: re.Match[str]) -> str:
    """What an entity stands for, unless it is markup."""
    found = chr(int(entity[1], 16))
    return entity[0] if found in "<>&" else found


def aligned(tex: str) -> str:
    r"""LaTeX with \begin{aligned} as what latex2mathml knows of it."""
    return tex.replace("{aligned}", "{align*}")
