"""Put the expressions of authors into larger ones, and a second value beside one they wrote."""

from __future__ import annotations

import json
import re

from anew.languages import made
from anew.languages.nodes import Entry, Node, ScalarNode, is_null, plain
from anew.languages.playbook.compilation import Compilation, shown
from anew.program.span import Span

_ONE = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*", re.DOTALL)


def bare_expression(c: Compilation, entry: Entry, rule: str) -> str | None:
    """The expression of an entry without braces; None (reported) for what is none."""
    node = entry.node
    text = node.text if isinstance(node, ScalarNode) and not is_null(node) else ""
    found = _ONE.fullmatch(text)
    if found is not None:
        return found.group(1).strip()
    if text.strip() and "{{" not in text and "{%" not in text:
        return text.strip()
    message = f"{entry.key} must be one expression; found {shown(node)}"
    c.report(
        rule, node.span, message, f'Write `{entry.key}: "{{{{ outcome.result.data.next }}}}"`.'
    )
    return None


def quoted(text: str, place: Span) -> ScalarNode:
    """A template, in the quotes that it is written in."""
    return made.scalar(text, place, "'" if "'" not in text else '"')


def either(value: str, asked: str, otherwise: Node | None, place: Span) -> ScalarNode:
    """`value` where `asked` holds, else what the author wrote; an expression keeps its type."""
    if otherwise is None or is_null(otherwise):
        return quoted(f"{{{{ {value} }}}}", place)
    text = otherwise.text if isinstance(otherwise, ScalarNode) else ""
    one = _ONE.fullmatch(text)
    if one is None and ("{{" in text or "{%" in text):
        return quoted(f"{{% if {asked} %}}{{{{ {value} }}}}{{% else %}}{text}{{% endif %}}", place)
    other = f"({one.group(1).strip()})" if one is not None else json.dumps(plain(otherwise))
    return quoted(f"{{{{ {value} if {asked} else {other} }}}}", place)
