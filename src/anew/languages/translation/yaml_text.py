"""Write plain values as the YAML of a playbook: blocks for what is long, braces for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anew.languages.playbook.emit import Inline, scalar, written
from anew.values import Value

_LINE_CHARS_MAX = 100
# These are read line by line, however short they are.
_ALWAYS_BLOCKS = frozenset({"workflow", "rules", "workload"})


def yaml_text(document: Mapping[str, Value]) -> str:
    """The document, with an empty line before each of its sections and steps."""
    lines: list[str] = []
    for key, value in document.items():
        if lines:
            lines.append("")
        if key == "workflow" and isinstance(value, list):
            lines += ["workflow:", *_steps(value)]
        else:
            lines += _entry(key, value, 0)
    return "\n".join([*lines, ""])


def _steps(steps: Sequence[Value]) -> Iterator[str]:
    for number, step in enumerate(steps):
        if number:
            yield ""
        yield from _item(step, 2)


def _entry(key: str, value: Value, indent: int) -> list[str]:
    start = f"{' ' * indent}{scalar(key).text}:"
    flow = _flow(value)
    is_short = len(start) + len(flow) + 1 <= _LINE_CHARS_MAX
    if not isinstance(value, dict | list) or not value:
        return _scalar_lines(start, value, indent)
    if is_short and key not in _ALWAYS_BLOCKS and not _has_lines(value) and not _is_deep(value):
        return [f"{start} {flow}"]
    if isinstance(value, list):
        return [start, *(line for item in value for line in _item(item, indent + 2))]
    return [start, *_entries(value, indent + 2)]


def _entries(values: Mapping[str, Value], indent: int) -> list[str]:
    return [line for key, value in values.items() for line in _entry(key, value, indent)]


def _item(value: Value, indent: int) -> list[str]:
    """A list element."""
    flow = f"{' ' * indent}- {_flow(value)}"
    is_step = isinstance(value, dict) and "step" in value and "tool" in value
    if not isinstance(value, dict) or not value:
        return [flow]
    if len(flow) <= _LINE_CHARS_MAX and not is_step and not _has_lines(value):
        return [flow]
    lines = _entries(value, indent + 2)
    return [f"{' ' * indent}- {lines[0].lstrip()}", *lines[1:]]


def _scalar_lines(start: str, value: Value, indent: int) -> list[str]:
    found = written(value) if isinstance(value, str) else Inline(_flow(value))
    if isinstance(found, Inline):
        return [f"{start} {found.text}"]
    chomping = "" if found.text.endswith("\n") else "-"
    inner = found.text.removesuffix("\n").split("\n")
    return [f"{start} |{chomping}", *((" " * (indent + 2) + line).rstrip() for line in inner)]


def _is_deep(value: Value, levels: int = 4) -> bool:
    """Whether braces would stand in braces in braces."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_is_deep(item, levels - 1) for item in inner)


def _has_lines(value: Value) -> bool:
    """Whether a text of several lines stands somewhere in it."""
    if isinstance(value, dict):
        return any(_has_lines(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_lines(item) for item in value)
    return isinstance(value, str) and "\n" in value


def _flow(value: Value) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k).text}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return scalar(value).text
