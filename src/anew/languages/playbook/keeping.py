"""Check which inputs of a task of kind `artifact` go together."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, ScalarNode
from anew.languages.playbook.compilation import Compilation
from anew.program.artifacts import ArtifactAction

_ONLY_GET = ("ref", "version")
_INSTEAD_OF_REF = ("name", "scope", "version")


def check_artifact(c: Compilation, inputs: Mapping[str, Entry], label: str) -> None:
    action = inputs.get("action")
    if action is None or not isinstance(action.node, ScalarNode):
        return
    if action.node.text == ArtifactAction.PUT.value:
        _check_put(c, inputs, action)
    elif action.node.text == ArtifactAction.GET.value:
        _check_get(c, inputs, label)


def _check_put(c: Compilation, inputs: Mapping[str, Entry], action: Entry) -> None:
    if "value" not in inputs:
        message = "`action: put` needs `value`"
        c.report("tool.input-missing", action.place, message, "Add `value: …`.")
    for name in _ONLY_GET:
        if name in inputs:
            message = f"`{name}` goes with `action: get`; versions of what is put count themselves"
            c.report("artifact.put", inputs[name].place, message, "Write `name: …` instead.")


def _check_get(c: Compilation, inputs: Mapping[str, Entry], label: str) -> None:
    if "value" in inputs:
        c.ignored(inputs["value"], "with `action: get`", "Remove it, or write `action: put`.")
    for name in _INSTEAD_OF_REF if "ref" in inputs else ():
        # In a list of tasks, `name` is the label as well.
        if name in inputs and not _is_label(inputs[name], label):
            c.ignored(inputs[name], "with `ref`", "Keep one of them.")


def _is_label(entry: Entry, label: str) -> bool:
    return isinstance(entry.node, ScalarNode) and entry.node.text == label
