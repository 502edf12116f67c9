"""Numbers in text columns: decimal commas, grouped thousands, one currency or percent sign.

Whether a mark is decimal or groups thousands is proven by some cells (`1.234,50`; `58,20`; `1,234,567`;
`0,125`) and open in others (`1,234`). What one cell proves holds for its column; where no cell proves it, the
caller decides. Digits are never rounded on the way: the text with one decimal point goes to the parser of
pyarrow, which rounds correctly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dataworth.arrays import Flags

NA_VALUES = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "None", "<NA>", "#N/A", "#NA",
)  # fmt: skip
"""Cells of a text file that stand for a missing value in every column."""
NULL_TOKENS = tuple(
    "? - -- --- – — . .. n.a. na nil missing unknown tbd k.a. k.a n.v. n.d. s/d"  # noqa: SIM905
    " #nv #div/0! #value! #ref! #num! #null!".split()
)
"""Cells that stand for a missing value where the others are numbers or dates, in any case of letters."""
SIGNS = ("$", "€", "£", "¥", "%", "CHF", "USD", "EUR", "GBP")
"""Signs that numbers of a column may carry, all of them the same; they do not change the value."""
GROUPERS = "'’ \u00a0\u2009\u202f"
LEADING_ZERO = r"^0\d+$"
ISO = re.compile(r"\d{4}-\d\d-\d\d")
CLOCK = re.compile(r"\d\d:\d\d(:\d\d)?$")
FLOAT = re.compile(r"[-+]?(\d*\.?\d+|\d+\.|inf|nan)", re.IGNORECASE)
WHOLE = re.compile(r"-?\d+$")
OPEN = r"[1-9]\d{0,2}[.,]\d{3}"


def _proof(mark: str, other: str) -> str:
    """A number whose decimal mark can only be `mark`."""
    m, o, power = re.escape(mark), re.escape(other), r"([eE][-+]?\d+)"
    whole = rf"\d{{1,3}}({o}\d{{3}})+{m}\d*|\d{{1,3}}({o}\d{{3}}){{2,}}|\d{{1,3}}([{GROUPERS}]\d{{3}})+{m}\d*"
    plain = rf"\d+{m}(\d{{0,2}}|\d{{4,}})|{m}\d+|(0\d*|\d{{4,}}){m}\d{{3}}"
    return rf"(({whole}|{plain}){power}?|\d+{m}\d*{power})"


PROOF = {".": _proof(".", ","), ",": _proof(",", ".")}
NEUTRAL = rf"\d+([eE][-+]?\d+)?|\d{{1,3}}([{GROUPERS}]\d{{3}})+"
SIGNED = "^[-+]?({})$"
VALID = SIGNED.format("|".join([NEUTRAL, OPEN, *PROOF.values()]))
GROUPED = rf"\d[{GROUPERS}]\d|[.,]\d{{3}}[.,]"


class Written(NamedTuple):
    """How the numbers of a text column are written.

    valid: which cells are numbers; proven: decimal marks that some cell proves, and that cell; open: a cell
    that leaves its mark open, or ""; such: one that is not digits alone, or ""; signs: those that occur;
    grouped: whether thousands are grouped.
    """

    valid: Flags
    proven: dict[str, str]
    open: str
    such: str
    signs: tuple[str, ...]
    grouped: bool

    def decimal(self, otherwise: str) -> str:
        """The decimal mark of the column: the one proven, or what is said otherwise."""
        return next(iter(self.proven)) if len(self.proven) == 1 else otherwise

    def plain(self, mark: str) -> bool:
        """Whether all cells are digits with a decimal point or this mark, as a program writes them."""
        settled = not self.open or (self.proven.keys() == {mark} and mark in self.open)
        return not self.signs and not self.grouped and settled and self.proven.keys() <= {".", mark}


def written(column: Any) -> Written:
    """How a text column without missing cells is written.

    >>> import pyarrow as pa
    >>> found = written(pa.array(["58,20", "1,234", "n/a"]))
    >>> found.valid.tolist(), found.proven, found.open
    ([True, True, False], {',': '58,20'}, '1,234')
    >>> written(pa.array(["$5", "€6"])).signs
    ('$', '€')
    """
    import pyarrow.compute as pc

    signs = tuple(sign for sign in SIGNS if pc.any(pc.match_substring(column, sign)).as_py())
    body = _unsigned(column, signs)
    valid = _matches(body, VALID)
    proofs = {mark: _first(column, _matches(body, SIGNED.format(form))) for mark, form in PROOF.items()}
    return Written(
        valid,
        {mark: such for mark, such in proofs.items() if such},
        _first(column, _matches(body, SIGNED.format(OPEN))),
        _first(column, valid & ~_matches(column, r"^\d+$")),
        signs,
        bool((_matches(body, GROUPED) & valid).any()),
    )


def to_numbers(column: Any, mark: str, signs: Sequence[str] = ()) -> Any:
    """A text column as numbers, with this decimal mark where a cell leaves it open; null where it is none.

    >>> import pyarrow as pa
    >>> to_numbers(pa.array(["1.234,50", "1,234", "blue"]), ",").to_pylist()
    [1234.5, 1.234, None]
    >>> to_numbers(pa.array(["1'234.5", "-$1,234", "5."]), ".", ["$"]).to_pylist()
    [1234.5, -1234.0, 5.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    body = _unsigned(column, signs)
    point, comma = (pc.match_substring_regex(body, SIGNED.format(PROOF[one])) for one in ".,")
    valid = pc.match_substring_regex(body, VALID)
    bare = pc.replace_substring_regex(body, f"[{GROUPERS}]", "")
    as_point = pc.replace_substring(bare, ",", "")
    as_comma = pc.replace_substring(pc.replace_substring(bare, ".", ""), ",", ".")
    chosen = pc.if_else(pc.or_(comma, pc.and_not(pa.scalar(mark == ","), point)), as_comma, as_point)
    return pc.if_else(valid, chosen, pa.scalar(None, chosen.type)).cast(pa.float64())


def is_null_token(column: Any) -> Any:
    """Where a text column holds a token for a missing value, as a pyarrow mask.

    >>> import pyarrow as pa
    >>> is_null_token(pa.array(["k.A.", "5", "?"])).to_pylist()
    [True, False, True]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    return pc.is_in(lower, value_set=pa.array(NULL_TOKENS, column.type))


def plain_values(column: Any) -> Any:
    """A text column as what all its cells are as programs write it, or None; digits as 007 are text.

    >>> import pyarrow as pa
    >>> [str(plain_values(pa.array(some)).type) for some in (["1", None], ["1", "2.5"], ["2021-04-03"])]
    ['int64', 'double', 'date32[day]']
    >>> [plain_values(pa.array(some)) for some in (["007"], ["1,5"], ["red"])]
    [None, None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # The first cell tells nearly always: a cast that fails takes longer than one that succeeds.
    first = str(column.drop_null()[0].as_py())
    if ISO.match(first):
        tried = [pa.date32(), pa.timestamp("s"), pa.timestamp("us")]
    elif first.lower() in ("true", "false"):
        tried = [pa.bool_()]
    elif CLOCK.match(first):
        tried = [pa.time32("s")]
    elif WHOLE.match(first):
        tried = [pa.int64(), pa.float64()]
    else:
        tried = [pa.float64()] if FLOAT.match(first) else []
    for kind in tried:
        try:
            values = as_plain(column, kind)
        except pa.ArrowInvalid:
            continue
        zeros = kind == pa.int64() and pc.any(pc.match_substring_regex(column, LEADING_ZERO)).as_py()
        return None if zeros else values
    return None


def as_plain(column: Any, kind: Any) -> Any:
    """A text column as a type of `plain_values`; raises ArrowInvalid where a cell is not of it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_time(kind):  # which pyarrow does not parse by itself
        day = pc.binary_join_element_wise("1970-01-01", column, " ")
        return day.cast(pa.timestamp("s")).cast(kind)
    return column.cast(kind)


def _matches(column: Any, form: str) -> Flags:
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(column, form).to_numpy(zero_copy_only=False), dtype=bool)


def _first(column: Any, where: Flags) -> str:
    return str(column[int(np.argmax(where))].as_py()) if where.any() else ""


def _unsigned(column: Any, signs: Sequence[str]) -> Any:
    """The cells without spaces and signs, and with a plain minus."""
    import pyarrow.compute as pc

    body = pc.utf8_trim_whitespace(column)
    if signs:
        own = f"(?:{'|'.join(map(re.escape, signs))})"
        body = pc.replace_substring_regex(body, rf"^([-+−–]?)\s*{own}\s*|\s*{own}$", r"\1")
    return pc.replace_substring_regex(body, "^[−–]", "-")
