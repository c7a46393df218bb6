"""Filters on text. Anything but a text is taken in its JSON form, undefined as empty.

What can grow by its arguments is measured before it is made.
"""

from __future__ import annotations

import re

from anew.expressions.arguments import integer_of, text_of
from anew.expressions.costs import Priced, by_characters, by_size, slowly
from anew.expressions.evaluation import Evaluation
from anew.expressions.problems import OperationError
from anew.expressions.rendering import check_chars, check_items
from anew.expressions.signature import Calls
from anew.values import Value

_WORD_START = re.compile(r"([-\s({\[<]+)")
_WORD = re.compile(r"\w+")


def string(run: Evaluation, value: Value) -> str:
    return text_of(run, value)


def lower(run: Evaluation, value: Value) -> str:
    return text_of(run, value).lower()


def upper(run: Evaluation, value: Value) -> str:
    return text_of(run, value).upper()


def capitalize(run: Evaluation, value: Value) -> str:
    return text_of(run, value).capitalize()


def title(run: Evaluation, value: Value) -> str:
    """Every word with a capital; an apostrophe does not begin a word."""
    pieces = _WORD_START.split(text_of(run, value))
    return "".join(piece[:1].upper() + piece[1:].lower() for piece in pieces)


def trim(run: Evaluation, value: Value, chars: Value = None) -> str:
    return text_of(run, value).strip(None if chars is None else text_of(run, chars))


def replace(run: Evaluation, value: Value, old: Value, new: Value, count: Value = None) -> str:
    text, before, after = (text_of(run, part) for part in (value, old, new))
    times = text.count(before)
    if count is not None:
        wanted = integer_of(count, "the count")
        times = min(times, wanted) if wanted >= 0 else times
    size = len(text) + times * (len(after) - len(before))
    check_chars(size, run.limits)
    run.spend_bulk(size)
    return text.replace(before, after, times)


def split(
    run: Evaluation, value: Value, separator: Value = None, maxsplit: Value = -1
) -> list[str]:
    """The pieces between separators; without one, between runs of white space."""
    text = text_of(run, value)
    mark = None if separator is None else text_of(run, separator)
    if mark == "":
        raise OperationError("the separator of 'split' is empty")
    pieces = text.split(mark, integer_of(maxsplit, "the number of splits"))
    run.spend_bulk(len(pieces))
    return pieces


def _padding(run: Evaluation, width: Value) -> int:
    columns = integer_of(width, "the width")
    check_chars(columns, run.limits)
    run.spend_bulk(max(columns, 0))
    return columns


def center(run: Evaluation, value: Value, width: Value = 80) -> str:
    return text_of(run, value).center(_padding(run, width))


def ljust(run: Evaluation, value: Value, width: Value = 80) -> str:
    return text_of(run, value).ljust(_padding(run, width))


def rjust(run: Evaluation, value: Value, width: Value = 80) -> str:
    return text_of(run, value).rjust(_padding(run, width))


def indent(
    run: Evaluation, value: Value, width: Value = 4, first: Value = False, blank: Value = False
) -> str:
    """Every line moved right; the first and blank ones only when asked."""
    margin = width if isinstance(width, str) else " " * _padding(run, width)
    lines = text_of(run, value).split("\n")
    size = sum(map(len, lines)) + len(lines) * (len(margin) + 1)
    check_chars(size, run.limits)
    run.spend_bulk(size)
    moved = [margin + line if line or blank else line for line in lines]
    if not first:
        moved[0] = lines[0]
    elif lines[0] == "":
        moved[0] = margin
    return "\n".join(moved)


def truncate(  # noqa: PLR0917 - the arguments Jinja has
    run: Evaluation,
    value: Value,
    length: Value = 255,
    killwords: Value = False,
    end: Value = "...",
    leeway: Value = 5,
) -> str:
    """Cut to `length` characters, the end mark included; a little over is left alone."""
    text, mark = text_of(run, value), text_of(run, end)
    size = integer_of(length, "the length")
    if size < len(mark):
        raise OperationError(f"the length must be at least {len(mark)}, that of the end mark")
    if len(text) <= size + integer_of(leeway, "the leeway"):
        return text
    kept = text[: size - len(mark)]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + mark


def word_count(run: Evaluation, value: Value) -> int:
    text = text_of(run, value)
    return sum(1 for _ in _WORD.finditer(text))


def split_lines(run: Evaluation, value: Value) -> list[str]:
    lines = text_of(run, value).splitlines()
    check_items(len(lines), run.limits)
    return lines


LOWER, UPPER = Priced(lower, by_size), Priced(upper, by_size)
CAPITALIZE, TITLE = Priced(capitalize, by_size), Priced(title, slowly(8))
STRIP, SPLIT, REPLACE = (
    Priced(trim, by_characters),
    Priced(split, by_size),
    Priced(replace, by_size),
)

TEXT_FILTERS: Calls = {
    "string": Priced(string, by_size),
    "safe": Priced(string, by_size),
    "lower": LOWER,
    "upper": UPPER,
    "capitalize": CAPITALIZE,
    "title": TITLE,
    "trim": STRIP,
    "replace": REPLACE,
    "split": SPLIT,
    "lines": Priced(split_lines, by_size),
    "center": Priced(center, by_size),
    "ljust": Priced(ljust, by_size),
    "rjust": Priced(rjust, by_size),
    "indent": Priced(indent, slowly(2)),
    "truncate": Priced(truncate, by_size),
    "wordcount": Priced(word_count, slowly(4)),
}
