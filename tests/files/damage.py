"""What may happen to bytes: flipped, cut, lengthened, pieces copied from elsewhere."""

import json


def damaged(draw, content, others=(b"",)):
    """Bytes, spoilt in one to three ways."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        content = draw.choice(WAYS)(draw, content, others)
    return content


def flips(draw, content, _):
    spoilt = bytearray(content or b"\0")
    for _ in range(draw.choice((1, 1, 3, 10))):
        spoilt[draw.randrange(len(spoilt))] ^= 1 << draw.randrange(8)
    return bytes(spoilt)


def numbers(draw, content, _):
    at, size = draw.randrange(len(content) + 1), draw.choice((1, 2, 4, 8))
    number = draw.choice((0, 1, 2, 2 ** (8 * size) - 1, 2 ** (8 * size) - 16, 2 ** (8 * size - 1), 2 ** (4 * size)))
    return content[:at] + (number % 2 ** (8 * size)).to_bytes(size, "little") + content[at + size :]


def cut(draw, content, _):
    return content[: draw.randrange(len(content) + 1)]


def hole(draw, content, _):
    at = draw.randrange(len(content) + 1)
    return content[:at] + content[at + draw.choice((1, 4, 8, 100)) :]


def longer(draw, content, _):
    return content + draw.choice((b"\0", b"\xff" * 8, content, bytes(draw.choice((10, 10_000)))))


def piece(draw, content, others):
    source = draw.choice([content, content, *others])
    size, at = draw.choice((1, 8, 16, 64, 512)), draw.randrange(len(content) + 1)
    first = draw.randrange(len(source) + 1)
    taken = source[first : first + size]
    return content[:at] + taken + content[at + (len(taken) if draw.random() < 0.8 else 0) :]


WAYS = (flips, flips, numbers, numbers, cut, hole, longer, piece, piece)

VALUES = [
    None, True, 0, 1, -1, 2, 3, 7, 10**6, 2**31, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", "x", "NaN", [],
    [0], [1], [-1], [3, 2], [2**40], {}, {"id": "zlib"}, "|O", "<f8", ">f8", "<f4", "<i8", "|V8", "<U9", "|S3", "F",
    "/", [{"id": "delta", "dtype": "<f8"}],
    [{"id": "vlen-utf8"}, {"id": "pickle"}], {"id": "pickle"}, "../../x", "\0",
    "\x1b[31m", "é" * 300,
]  # fmt: skip


def edited(draw, text):
    """JSON with one value in it replaced, taken out or added; or nested without end."""
    if draw.random() < 0.05:
        many = draw.choice((900, 5_000, 100_000))
        return draw.choice(("[" * many + "]" * many, '{"a":' * many + "1" + "}" * many, "[" * many))
    whole = json.loads(text)
    inside = [whole]
    while draw.random() < 0.6 and (deeper := [v for v in values_of(inside[-1]) if isinstance(v, dict | list) and v]):
        inside.append(draw.choice(deeper))
    at = inside[-1]
    if isinstance(at, dict):
        key = draw.choice([*at, "more"])
        if draw.random() < 0.2 and key in at:
            del at[key]
        else:
            at[key] = draw.choice(VALUES)
    elif at:
        at[draw.randrange(len(at))] = draw.choice(VALUES)
    return json.dumps(whole)


def values_of(container):
    return list(container.values()) if isinstance(container, dict) else list(container)
