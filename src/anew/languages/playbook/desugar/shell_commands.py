"""What shell commands mean as NoETL's users write them.

Documents for its local profile are written for bash. Braces that start with a dot are for other
programs, `docker ps --format "{{.Names}}"`: no expression of ours starts so. Does not read the
commands.
"""

from __future__ import annotations

import re

from anew.languages import made
from anew.languages.nodes import Entry, MapNode, ScalarNode
from anew.languages.playbook.compilation import Compilation
from anew.program.kind import Kind

_SHELL = "shell"
# Of the templates of Go, several in a row with what is between them on one line.
_FOREIGN = re.compile(r"\{\{\s*\.[^{}\n]*\}\}")


def is_for_bash(root: MapNode) -> bool:
    """Whether a document says that it is for the local profile."""
    executor = root.get("executor")
    node = executor.node if executor is not None else None
    profile = node.get("profile") if isinstance(node, MapNode) else None
    return profile is not None and getattr(profile.node, "value", None) == "local"


def canonical_commands(c: Compilation, inputs: dict[str, Entry], kind: Kind) -> None:
    """Say which shell reads the commands of a task, and keep what is not ours to render."""
    for name in kind.shell & inputs.keys():
        inputs[name] = _keep_foreign_templates(c, inputs[name])
        if c.is_for_bash and _SHELL in kind.inputs and _SHELL not in inputs:
            place = inputs[name].place
            message = "with `executor: {profile: local}`, bash reads the command"
            c.noncanonical("strict.shell", place, message, f"`{_SHELL}: bash`")
            inputs[_SHELL] = made.entry(_SHELL, made.scalar("bash", place), place)


def _keep_foreign_templates(c: Compilation, entry: Entry) -> Entry:
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
