"""Say in the author's words what the YAML parser could not read.

Knows the parser's phrases and the text around the place; decides nothing about the document.
"""

from __future__ import annotations

_REMEDIES: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a ':' is where no key can start",
        "Check the indentation, or put quotes around a value that contains ': '.",
    ),
    (
        "block sequence entries are not allowed",
        "a list cannot start on the line of its key",
        "Start the list on the next line, or write it in brackets: [a, b].",
    ),
    (
        "did not find expected '-' indicator",
        "this line is indented like a list element but has no '- '",
        "Start it with '- ', or indent it like the lines it belongs to.",
    ),
    (
        "did not find expected ',' or ']'",
        "a list in brackets is not closed",
        "Separate elements with ',' and close the list with ']'.",
    ),
    (
        "did not find expected ',' or '}'",
        "a mapping in braces is not closed",
        "Separate entries with ',' and close the mapping with '}'.",
    ),
    (
        "found unexpected end of stream",
        "a quoted text is not closed before the end of the file",
        "Add the missing quote.",
    ),
    (
        "could not find expected ':'",
        "a key has no ':'",
        "Write 'key: value', or put quotes around a text of several lines.",
    ),
    (
        "did not find expected key",
        "this does not continue the mapping that is open here",
        "Check the indentation and the quotes of the line before.",
    ),
    (
        "found unknown escape character",
        "a backslash in double quotes starts an escape that does not exist",
        "Write '\\\\' for a backslash, or use single quotes.",
    ),
    (
        "did not find expected <document start>",
        "something follows the end of the document",
        "Remove it, or check the brackets and the indentation before it.",
    ),
)
_QUOTE_IT = "Put quotes around a value that contains {{ … }}."


_READ_AGAIN = "Check the indentation, the quotes and the brackets of this line and the one before."


def explain(problem: str, line: str, column: int) -> tuple[str, str]:
    """Message and remedy for a parser's problem at `column` (from 0) of `line`."""
    found = line[column : column + 1]
    if "tab" in problem or found == "\t":
        return "a tab is used for indentation; use spaces", "Replace the tab by spaces."
    if "cannot start any token" in problem:
        return f"a value cannot start with {found!r}", "Put quotes around the value."
    for phrase, message, remedy in _REMEDIES:
        if phrase in problem:
            return message, _QUOTE_IT if _has_bare_template(line, column) else remedy
    return f"this is not valid YAML: {problem}", _READ_AGAIN


def _has_bare_template(line: str, column: int) -> bool:
    start = line.find("{{")
    return 0 <= start < max(column, 1) and line[:start].rstrip().endswith((":", "-"))
