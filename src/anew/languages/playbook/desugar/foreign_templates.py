"""Keep what shell commands hold for other programs: `docker ps --format "{{.Names}}"`.

Decides which braces are no expression of ours: none of ours starts with a dot. Does not read the
others.
"""

from __future__ import annotations

import re

from anew.languages import made
from anew.languages.nodes import Entry, ScalarNode
from anew.languages.playbook.compilation import Compilation

# Of the templates of Go, several in a row with what is between them on one line.
_FOREIGN = re.compile(r"\{\{\s*\.[^{}\n]*\}\}")


def keep_foreign_templates(c: Compilation, entry: Entry) -> Entry:
    """A shell command with other programs' templates as text; the same where it has none."""

    def kept(node: ScalarNode, _key: str) -> ScalarNode:
        if not isinstance(node.value, str) or "{% raw" in node.value:
            return node
        first = _FOREIGN.search(node.value)
        if first is None:
            return node
        message = f"`{first[0]}` is a template of another program"
        c.noncanonical("strict.raw", node.span, message, f"`{_as_text(first)}`")
        return made.scalar(_FOREIGN.sub(_as_text, node.value), node.span, node.style)

    return made.renamed(entry, entry.key, made.rewritten(entry.node, kept))


def _as_text(found: re.Match[str]) -> str:
    return f"{{% raw %}}{found[0]}{{% endraw %}}"
