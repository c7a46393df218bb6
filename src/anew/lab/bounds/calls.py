"""How long one execution of a task can take: the call itself, and waits that are its work.

A call is bounded by its timeout. A sleep, a question and a wait for a signal are waits; a child run
is both.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.retry import DELAY_SECONDS_MAX
from anew.lab.bounds.amounts import ZERO, Bound, BoundReason, endless, larger, largest, smaller
from anew.lab.bounds.analysis_inputs import AnalysisInput, ChildCall, tools_of
from anew.lab.bounds.delays import plain_seconds
from anew.lab.bounds.static_values import UNKNOWN, inputs_known, part_known
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.program import Task
from anew.values import Object


class CallBounds(Struct, frozen=True):
    """One execution, and those `inside` the child run it is.

    `timeout` is the author's, or the tool's where `is_default`; `deadline` that of the step, past
    which no further execution starts.
    """

    waits: Bound
    seconds: Bound
    timeout: float | None = None
    is_default: bool = False
    inside: Bound = ZERO
    deadline: float | None = None


def calling(given: AnalysisInput, task: Task) -> CallBounds:
    """The longest one execution of this task can wait and take."""
    if task.outcome_from is not OutcomeSource.WORKBOOK:
        return _tool(given, task, task)
    found = [_tool(given, task, tool) for tool in tools_of(given, task)]
    if not found:
        return CallBounds(ZERO, ZERO)
    longest = max(found, key=lambda one: one.seconds.at_most)
    waits, seconds = found[0].waits, found[0].seconds
    for one in found[1:]:
        waits, seconds = larger(waits, one.waits), larger(seconds, one.seconds)
    inside = largest(one.inside for one in found)
    return CallBounds(waits, seconds, longest.timeout, longest.is_default, inside)


def _tool(given: AnalysisInput, task: Task, tool: Task) -> CallBounds:
    inputs = inputs_known(tool.inputs, given.workload)
    kind = kind_named(tool.kind)
    if kind.is_instant:
        return CallBounds(ZERO, ZERO)
    if kind.waits_for_others:
        waits = _silence(tool, inputs)
        return CallBounds(waits, waits)
    if kind.outcome_from is OutcomeSource.CLOCK:
        return _timed(task, tool, _slept(tool, inputs), _slept(tool, inputs))
    if kind.outcome_from is OutcomeSource.CHILD:
        return _child(given, task, tool, inputs)
    return _timed(task, tool, ZERO, None)


def _timed(task: Task, tool: Task, waits: Bound, seconds: Bound | None) -> CallBounds:
    """Cut off by the timeout, the author's before the tool's."""
    said = tool.timeout if task.timeout is None else task.timeout
    usual = kind_named(tool.kind).timeout_seconds
    if isinstance(said, (int, float)):
        timeout, is_default = float(said), False
    elif said is None and usual is not None:
        timeout, is_default = usual, True
    else:
        return CallBounds(waits, _untimed(task, said) if seconds is None else seconds)
    limit = Bound(timeout)
    return CallBounds(
        smaller(waits, limit),
        limit if seconds is None else smaller(seconds, limit),
        timeout,
        is_default,
    )


def _untimed(task: Task, said: object) -> Bound:
    what = f"{task.label} ({task.kind}) has no timeout"
    if isinstance(said, Mapping):
        what = f"the timeout of {task.label} limits connecting and reading, not the whole call"
    return endless(BoundReason("no-timeout", task.span, what))


def _silence(tool: Task, inputs: Object) -> Bound:
    """How long nobody may answer."""
    whom = f"a {tool.outcome_from}"
    if inputs.get("timeout") is None:
        what = f"{tool.label} waits for {whom} without a timeout"
        return endless(BoundReason("wait", tool.span, what))
    return _stated(tool, inputs["timeout"], f"the timeout of {tool.label}")


def _slept(tool: Task, inputs: Object) -> Bound:
    if inputs.get("until") is not None:
        what = f"{tool.label} sleeps until a moment"
        return endless(BoundReason("sleep", tool.span, what))
    return _stated(tool, inputs.get("seconds"), f"how long {tool.label} sleeps")


def _stated(tool: Task, value: object, what: str) -> Bound:
    seconds = None if value is UNKNOWN else plain_seconds(value)
    if seconds is not None:
        return Bound(min(seconds, DELAY_SECONDS_MAX))
    if value is not None and value is not UNKNOWN and not isinstance(value, str):
        return ZERO  # no run can wait with it: it is an error at once
    why = f"{what} is an expression whose value is known only at run time"
    return endless(BoundReason("wait", tool.span, why), DELAY_SECONDS_MAX)


def _child(given: AnalysisInput, task: Task, tool: Task, inputs: Object) -> CallBounds:
    what = child_name(inputs)
    bounds = given.child(ChildCall(what, tool.span, {**inputs, "args": _args(given, tool, inputs)}))
    if isinstance(bounds, str):
        unknown = endless(BoundReason("child", tool.span, f"the child {what}: {bounds}"))
        waits, seconds, inside = unknown, unknown, unknown
    else:
        waits, seconds, inside = bounds.waits, bounds.time, bounds.executions
    if inputs.get("async") is True:
        # It goes on by itself: nobody waits for it.
        return CallBounds(ZERO, ZERO, inside=inside)
    return replace(_timed(task, tool, waits, seconds), inside=inside)


def _args(given: AnalysisInput, tool: Task, inputs: Object) -> object:
    """The arguments as far as they are known: one by one where not all of them are."""
    said = tool.inputs.source
    written = said.get("args") if isinstance(said, Mapping) else None
    if not isinstance(written, Mapping):
        return inputs.get("args")
    return {key: part_known(value, given.workload) for key, value in written.items()}


def child_name(inputs: Object) -> str:
    """What a task calls its child."""
    said = inputs.get("file") if inputs.get("file") is not None else inputs.get("path")
    return said if isinstance(said, str) else "whose value is known only at run time"
