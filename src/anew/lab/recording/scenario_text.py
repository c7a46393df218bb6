"""Write a scenario as YAML for people to read: blocks for what is long, braces for the rest.

What is written reads as the same value again, whatever texts it holds: a word that some reader of
YAML would take for something else is quoted. Knows values, and which keys stand on lines of
their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anew.languages.yaml_writer import fits_literal, literal_lines, scalar
from anew.values import Object, Value, json_text

LINE_CHARS = 100
# YAML reads a longer key only after a question mark.
_PLAIN_KEY_CHARS_MAX = 1_000
# Texts to us; `true` and `false` to readers of YAML 1.1.
_WORDS_OF_OLD = frozenset("y n yes no on off".split())
# Read line by line, however short they are.
_SECTIONS = frozenset({"outcomes", "signals", "lags", "expect"})


def scenario_text(scenario: Mapping[str, Value], comments: Sequence[str] = ()) -> str:
    """The document: comments, then its sections with an empty line between them."""
    lines = [f"# {_on_one_line(comment)}".rstrip() for comment in comments]
    for key, value in scenario.items():
        if isinstance(value, dict | list) and lines:
            lines.append("")
        if key in _SECTIONS and _fits_block(value):
            lines += [f"{key}:", *_block(value, 2)]
        else:
            lines += _entry(key, value, 0)
    return "\n".join([*lines, ""])


def _on_one_line(comment: str) -> str:
    return "".join(character if character.isprintable() else " " for character in comment)


def _block(value: Value, indent: int) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _item(item, indent)
    else:
        for key, inner in value.items():
            yield from _entry(key, inner, indent)


def _entry(key: str, value: Value, indent: int) -> list[str]:
    start = f"{' ' * indent}{_scalar(key)}:"
    if not isinstance(value, dict | list):
        return _scalar_lines(start, value, indent)
    flow = f"{start} {_flow(value)}"
    if len(flow) <= LINE_CHARS or not _fits_block(value):
        return [flow]
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return _wrapped(f"{start} [", value, indent + 2)
    return [start, *_block(value, indent + 2)]


def _wrapped(start: str, items: list[Value], indent: int) -> list[str]:
    """A list of plain values, as many on a line as fit."""
    lines = [start]
    for number, item in enumerate(items, 1):
        text = _scalar(item) + ("]" if number == len(items) else ",")
        if len(lines[-1]) + len(text) + 1 > LINE_CHARS and lines[-1].strip():
            lines.append(" " * indent + text)
        else:
            lines[-1] += text if lines[-1].endswith("[") else f" {text}"
    return lines


def _item(value: Value, indent: int) -> list[str]:
    flow = f"{' ' * indent}- {_flow(value)}"
    is_short = len(flow) <= LINE_CHARS
    if is_short or not isinstance(value, dict) or not _fits_block(value):
        return [flow]
    lines = list(_block(value, indent + 2))
    return [f"{' ' * indent}- {lines[0].lstrip()}", *lines[1:]]


def _fits_block(value: Value) -> bool:
    """Whether it has parts, each of which can stand at the beginning of a line."""
    if isinstance(value, dict):
        return bool(value) and all(len(_scalar(key)) <= _PLAIN_KEY_CHARS_MAX for key in value)
    return isinstance(value, list) and bool(value)


def _scalar_lines(start: str, value: Value, indent: int) -> list[str]:
    if fits_literal(value):
        return literal_lines(start, value, indent)
    return [f"{start} {_flow(value)}"]


def _flow(value: Value) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return _flow_object(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _flow_object(value: Object) -> str:
    return (
        "{" + ", ".join(f"{_flow_key(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    )


def _flow_key(key: str) -> str:
    text = _scalar(key)
    return text if len(text) <= _PLAIN_KEY_CHARS_MAX else f"? {text} "


def _scalar(value: Value) -> str:
    if isinstance(value, str) and value.lower() in _WORDS_OF_OLD:
        return json_text(value)
    return scalar(value)
