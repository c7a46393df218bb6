"""Read `[key=value ...]` and `key = value`, and say what is wrong with them.

Goes on after a mistake at the next attribute, or at the end of the list. Knows no statements.
"""

from __future__ import annotations

from anew.languages.dot.attributes import duration_meant, typed
from anew.languages.dot.cursor import Cursor, named, value_text
from anew.languages.dot.graph import Attribute
from anew.languages.dot.tokens import END, HTML, IDS, NUMBER, TEXT, URL, VALUE, VALUES, DotToken

_SEPARATORS = frozenset(",;")
# None of these can stand in a list: its `]` was forgotten.
_BEYOND = frozenset({END, "{", "}", "[", "->", "--"})
_VALUE_ENDS = frozenset({",", ";", "]", "}", "[", END})
_QUOTE_IT = 'Put quotes around the whole value: `key="..."`.'
_PAIR = 'Write `key=value` or `key="value"`.'
_NO_HTML = 'Write a quoted text: `label="..."`.'
_NO_JOINING = "Write one text; it may span lines."


def read_lists(cursor: Cursor) -> dict[str, Attribute] | None:
    """The lists that stand here, merged left to right; None when there is none."""
    if cursor.kind != "[":
        return None
    found: dict[str, Attribute] = {}
    while cursor.kind == "[":
        found.update(_read_list(cursor))
    return found


def read_pair(cursor: Cursor) -> Attribute | None:
    """The `key = value` here; None, with a finding, when it is none."""
    key = cursor.take()
    name = value_text(key)
    equals = cursor.take()
    if cursor.kind not in VALUES:
        _report_value(cursor, key, equals)
        return None
    value = cursor.take()
    if _is_cut_short(cursor, value):
        return None
    if not name:
        cursor.report("dot.syntax", key, "the name of an attribute is empty", _PAIR)
        return None
    raw = value_text(value)
    return Attribute(name, typed(raw), raw, cursor.span(value), cursor.span(key))


def _read_list(cursor: Cursor) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    opening = cursor.take()
    while cursor.kind != "]":
        if cursor.kind in _SEPARATORS:
            cursor.take()
        elif _is_unclosed(cursor):
            line = cursor.span(cursor.here).line
            message = f"the list that starts here is not closed before {named(cursor.here)}"
            remedy = f"Close it with `]` before line {line}, or add what is missing there."
            cursor.report("dot.syntax", opening, message, remedy)
            return found
        else:
            _read_item(cursor, found)
    cursor.take()
    return found


def _read_item(cursor: Cursor, found: dict[str, Attribute]) -> None:
    key = cursor.here
    if key.kind not in IDS or key.kind == NUMBER or cursor.next_kind() != "=":
        _report_item(cursor)
        return
    attribute = read_pair(cursor)
    if attribute is None:
        _skip_item(cursor)
        return
    if attribute.key in found:
        message = f"the attribute {attribute.key!r} is given twice; the last one counts"
        cursor.report("dot.attribute-twice", key, message, "Remove one of the two.")
    found[attribute.key] = attribute


def _is_unclosed(cursor: Cursor) -> bool:
    if cursor.kind in _BEYOND:
        return True
    begins_statement = cursor.kind in IDS and cursor.next_kind() in ("->", "--", "[")
    return begins_statement and cursor.is_first_of_line()


def _skip_item(cursor: Cursor) -> None:
    """Go to where the next attribute may begin."""
    while cursor.kind not in _SEPARATORS and cursor.kind != "]" and cursor.kind not in _BEYOND:
        if cursor.is_first_of_line() and cursor.next_kind() == "=":
            return
        cursor.take()


def _report_item(cursor: Cursor) -> None:
    key = cursor.take()
    name = value_text(key)
    if key.kind not in IDS:
        message = f"found {named(key)} where an attribute or `]` is expected"
        cursor.report("dot.syntax", key, message, _PAIR)
    elif cursor.kind == ":":
        message = f"found `:` after {name!r} where `=` is expected"
        cursor.report("dot.syntax", cursor.here, message, f"Write `{name}=...`.")
    elif key.kind == NUMBER:
        message = f"an attribute cannot be named {named(key)}"
        cursor.report("dot.syntax", key, message, _PAIR)
    else:
        message = f"the attribute {name!r} has no value: found {named(cursor.here)}, not `=`"
        # `timeout=5 minutes`: the value went on without quotes.
        meant = duration_meant(f"{cursor.tokens[cursor.at - 2].text} {name}")
        remedy = f'Write `{name}="..."`, or remove it.'
        cursor.report("dot.syntax", key, message, f"Did you mean `{meant}`?" if meant else remedy)
        if cursor.kind in IDS:
            return  # the next attribute begins here
    _skip_item(cursor)


def _report_value(cursor: Cursor, key: DotToken, equals: DotToken) -> None:
    """There is no value where the cursor is."""
    found, name = cursor.here, value_text(key)
    if found.kind == HTML:
        message = f"the value of {name!r} is HTML-like text, which is not supported"
        cursor.report("dot.html", cursor.take(), message, _NO_HTML)
        return
    if cursor.text_is(">") and found.begin == equals.end:
        message = "found `=>` where `->` or `=` is expected"
        cursor.report("dot.syntax", equals, message, "An edge is written `->`.")
        return
    if found.kind == URL:
        message = f"the value of {name!r} needs quotes: `//` starts a comment"
        cursor.report("dot.syntax", cursor.take(), message, f'Write `{name}="{found.text}"`.')
        return
    message = f"found {named(found)} where the value of {name!r} is expected"
    cursor.report("dot.syntax", found, message, f'Write `{name}="..."`.')


def _is_cut_short(cursor: Cursor, value: DotToken) -> bool:
    """Whether more of the value follows that only quotes could have held together."""
    rest = cursor.here
    if value.kind == TEXT and cursor.text_is("+"):
        cursor.report("dot.syntax", rest, "texts cannot be joined with `+`", _NO_JOINING)
        return True
    if value.kind != VALUE or rest.kind in _VALUE_ENDS or not cursor.touches_previous():
        return _has_equals(cursor, value)
    message = f"the value {named(value)} continues with {named(rest)}, which needs quotes"
    cursor.report("dot.syntax", value, message, _QUOTE_IT)
    while cursor.touches_previous() and cursor.kind not in _VALUE_ENDS:
        cursor.take()
    return True


def _has_equals(cursor: Cursor, value: DotToken) -> bool:
    """`condition = a = b`: only a quoted text may hold the second `=`."""
    if cursor.kind != "=":
        return False
    message = f"found a second `=` after the value {named(value)}"
    cursor.report("dot.syntax", cursor.here, message, _QUOTE_IT)
    return True
