"""Check what a task of kind `artifact` asks for: the words, and which of them go together."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.program.artifacts import ArtifactAction, ArtifactScope

_ONLY_GET = ("ref", "version")


def check_artifact(c: Compilation, inputs: Mapping[str, Entry]) -> None:
    _check_word(c, inputs.get("scope"), ArtifactScope)
    action = inputs.get("action")
    if not _check_word(c, action, ArtifactAction) or action is None:
        return
    assert isinstance(action.node, ScalarNode)
    if action.node.text == ArtifactAction.GET.value:
        if "value" in inputs:
            c.ignored(inputs["value"], "with `action: get`", "Remove it, or write `action: put`.")
        return
    if "value" not in inputs:
        message = "`action: put` needs `value`"
        c.report("tool.input-missing", action.place, message, "Add `value: …`.")
    for name in _ONLY_GET:
        if name in inputs:
            message = f"`{name}` goes with `action: get`; versions of what is put count themselves"
            c.report("artifact.put", inputs[name].place, message, "Write `name: …` instead.")


def _check_word(
    c: Compilation, entry: Entry | None, words: type[ArtifactAction] | type[ArtifactScope]
) -> bool:
    """Whether one of the words is there; a template may give any."""
    if entry is None or is_null(entry.node) or not isinstance(entry.node, ScalarNode):
        return False
    if "{{" in entry.node.text:
        return False
    what = f"`{entry.key}` of an artifact"
    return c.word(entry, words, rule="artifact.word", what=what) is not None
