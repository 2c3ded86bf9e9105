"""Tables as programs write them: commas, semicolons or tabs between, units beside names, remarks above."""

import csv
import io
from dataclasses import dataclass

BETWEEN = (",", ";", "\t")
REMARK = "#"
GAPS = ("", "na", "n/a", "nan", "null", "none", "-")
TIMES = ("t", "time")


@dataclass(frozen=True)
class Table:
    """The names of columns, without units, and rows of text, each with the number of its line."""

    names: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    comma: bool
    """Whether decimals are written with a comma."""

    def cell(self, text: str) -> str:
        """A cell as numbers are written here; empty where it is a gap."""
        text = text.strip()
        if text.lower() in GAPS:
            return ""
        return text.replace(",", ".") if self.comma else text


def table_in(text: str) -> Table:
    """The table in a text; `csv.Error` where it is none.

    >>> table = table_in("# by hand\\ntime [s]; x (m)\\n0,5; 1\\n")
    >>> table.names, table.rows, table.cell(table.rows[0][1][0])
    (('time', 'x'), ((3, ('0,5', '1')),), '0.5')
    """
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [(i, line) for i, line in lines if not line.lstrip().startswith(REMARK)]
    if not lines:
        return Table((), (), False)
    between = max(BETWEEN, key=lambda mark: (lines[0][1].count(mark), -BETWEEN.index(mark)))
    rows = csv.reader(io.StringIO("\n".join(line for _, line in lines)), delimiter=between, skipinitialspace=True)
    read = [(lines[rows.line_num - 1][0], tuple(cell.strip() for cell in row)) for row in rows]
    return Table(tuple(map(plain_name, read[0][1])), tuple(read[1:]), between == ";")


def plain_name(name: str) -> str:
    """The name of a column without its unit; times under one of their names.

    >>> plain_name("x [m]"), plain_name("speed (m/s)"), plain_name("Time")
    ('x', 'speed', 'time')
    """
    for opening, closing in ("[]", "()"):
        if name.endswith(closing) and opening in name[1:]:
            name = name[: name.rindex(opening)].strip()
    return name.lower() if name.lower() in TIMES else name
