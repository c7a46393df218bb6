"""Compile one canonical step: its tasks, gate, loop and router, and what it writes."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, Item, ListNode, MapNode
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.compensations import compensation_item
from anew.languages.playbook.desugar.steps import step_name
from anew.languages.playbook.loops import read_loop
from anew.languages.playbook.patches import read_visit_patches
from anew.languages.playbook.routes import read_router
from anew.languages.playbook.step_specs import read_pool, with_spec
from anew.languages.playbook.tasks import TaskRead, read_task
from anew.program.program import Dialect, Step


class StepRead(Struct, frozen=True):
    """A compiled step, and the dialects its tasks showed."""

    step: Step
    dialects: frozenset[Dialect]


def read_compensation(c: Compilation, item: Item) -> StepRead | None:
    """The step that undoes a canonical one, if it says how."""
    name = step_name(item)
    entry = item.node.get("compensate") if isinstance(item.node, MapNode) else None
    if name is None or entry is None:
        return None
    found = read_step(c, compensation_item(name.text, entry))
    if found is None:
        return None
    return replace(found, step=replace(found.step, compensates=name.text))


def read_step(c: Compilation, item: Item) -> StepRead | None:
    """The compiled step; what is wrong is reported and left out. None when it has no name."""
    node, name = item.node, step_name(item)
    if not isinstance(node, MapNode):
        c.report(
            "step.name", node.span, f"a step must be a mapping; found {shown(node)}", _STEP_FORM
        )
        return None
    if name is None:
        _report_name(c, node, item)
    label = name.text if name is not None else ""
    c.step = label
    tasks = list(_tasks(node, label))
    labels = frozenset(task.key for task in tasks)
    args = node.get("args")
    reads = [read_task(c, task, labels=labels, args=args) for task in tasks]
    step = Step(
        name=label,
        tasks=tuple(read.task for read in reads),
        dialect=_step_dialect(reads),
        patches=read_visit_patches(c, node.get("set")),
        span=name.span if name is not None else item.place,
    )
    step = with_spec(c, step, node.get("spec"))
    loop = read_loop(c, node.get("loop"))
    if "loop" in node and loop is None:
        c.lost_loops.add(label)
    router = read_router(c, node.get("next"))
    step = replace(step, loop=loop, router=router, pool=_read_pool(c, tasks, step.pool))
    shown_dialects = frozenset(read.task.dialect for read in reads if read.shows_dialect)
    return StepRead(step, shown_dialects) if name is not None else None


def _report_name(c: Compilation, node: MapNode, item: Item) -> None:
    entry = node.get("step")
    if entry is None:
        c.report("step.name", item.place, "a step has no name", _STEP_FORM)
    else:
        message = f"a step's name must be a text; found {shown(entry.node)}"
        c.report("step.name", entry.node.span, message, _STEP_FORM)


def _step_dialect(reads: list[TaskRead]) -> Dialect:
    says_output = any(read.task.dialect is Dialect.OUTPUT for read in reads)
    return Dialect.OUTPUT if says_output else Dialect.POLICY


def _tasks(node: MapNode, name: str) -> Iterator[Entry]:
    """The tasks under their labels; a lone one without a label has the name of its step."""
    tool = node.get("tool")
    if tool is not None and isinstance(tool.node, MapNode):
        yield Entry(name, tool.name, tool.node, tool.alias_end)
    elif tool is not None and isinstance(tool.node, ListNode):
        for item in tool.node.items:
            assert isinstance(item.node, MapNode)
            yield next(iter(item.node))


def _read_pool(c: Compilation, tasks: list[Entry], own: str | None) -> str | None:
    """The pool of the whole pipeline: one worker runs it, so its tasks cannot ask for several."""
    pool = own
    for task in tasks:
        spec = task.node.get("spec") if isinstance(task.node, MapNode) else None
        entry = spec.node.get("pool") if spec and isinstance(spec.node, MapNode) else None
        asked = read_pool(c, entry)
        if entry is not None and asked not in (None, pool) and pool is not None:
            message = f"task {task.key!r} asks for pool {asked!r}, its step for {pool!r}"
            remedy = "Write one `spec: {pool: …}` on the step, or move the task to its own step."
            c.report("step.pool", entry.node.span, message, remedy)
        pool = pool or asked
    return pool


_STEP_FORM = "Write `- step: <name>` with its `tool` and `next`."
