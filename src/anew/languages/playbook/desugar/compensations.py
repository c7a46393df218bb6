"""What undoes a step: `compensate`, a list of tasks in every form that `tool` has.

It is a step of its own, which no arc leads to, and is compiled as one.
"""

from __future__ import annotations

from anew.languages import made
from anew.languages.nodes import Entry, Item, MapNode
from anew.languages.playbook.compilation import Compilation

# What may not stand in the name of a step that authors write, so that the two never meet.
_SUFFIX = ".compensate"


def compensation_name(step: str) -> str:
    """How the timeline calls the visits that undo those of a step."""
    return f"{step}{_SUFFIX}"


def compensation_item(step: str, entry: Entry) -> Item:
    """The tasks below `compensate` as a step."""
    place = entry.place
    name = made.entry("step", made.scalar(compensation_name(step), place), place)
    tool = made.renamed(Entry("tool", entry.name, entry.node), "tool")
    return Item(place, made.mapping([name, tool], place))


def canonical_compensation(c: Compilation, step: str, entry: Entry) -> Entry:
    # A step has tasks, and tasks make a step: here the circle closes.
    from anew.languages.playbook.desugar.steps import canonical_step  # noqa: PLC0415

    found = canonical_step(c, compensation_item(step, entry)).node
    tool = found.get("tool") if isinstance(found, MapNode) else None
    return entry if tool is None else made.renamed(entry, "compensate", tool.node)
