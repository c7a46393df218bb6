"""Plain words for the ways a run takes: why an arc, which branches, how they met, which gates.

For the timeline and the log lines alike. Each function says one event in a part of a sentence.
"""

from __future__ import annotations

from typing import assert_never

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.engine.moments import NANOSECONDS
from anew.program.policy import TimeoutAction, Verdict
from anew.program.program import Program
from anew.values import Object
from anew.views.wording import counted, duration, error_text, joined, one_line

CHOICES_SHOWN = 9
BRANCHES_SHOWN = 12

# Why the router went this way. That all arcs of a fork are taken needs no reason.
REASONS = {
    RouteReason.CONDITION: "its condition holds",
    RouteReason.LABEL: "by its label",
    RouteReason.SUGGESTED: "as suggested",
    RouteReason.WEIGHT: "by weight",
    RouteReason.LEXICAL: "by name",
    RouteReason.FAIL_EDGE: "it takes the failure",
    RouteReason.FORK: "",
    RouteReason.RETRY_TARGET: "the retry target",
    RouteReason.FALLBACK: "the fallback",
    RouteReason.GATE: "a gate is not satisfied",
    RouteReason.REPEATED: (
        "the same failure has come back too often (same_failures, max_same_failures)"
    ),
}


def reason_text(event: e.NextEvaluated, program: Program | None = None) -> str:
    """Why this way; empty where there was no other, or arcs are simply asked in their order.

    The only way that is open has the greatest weight too. Whether there were others, only the
    program tells.
    """
    if event.reason is None:
        return ""
    if event.reason == RouteReason.WEIGHT and _open_ways(event, program) < 2:
        return ""
    return REASONS[event.reason]


def _open_ways(event: e.NextEvaluated, program: Program | None) -> int:
    """How many arcs without a condition could be taken; 0 when the program is not known."""
    step = program.steps.get(event.step or "") if program else None
    refused = {row["arc"] for row in event.arcs if not row["verdict"]}
    arcs = enumerate(step.router.arcs, 1) if step else ()
    return sum(arc.when is None and number not in refused for number, arc in arcs)


def forked_text(event: e.BranchForked) -> str:
    """`a, b, c · join at j · 4 at a time`."""
    names = listed([str(branch.get("name")) for branch in event.branches])
    join = f"join at {event.join}" if event.join else ""
    return joined(names, join, f"{event.width} at a time" if event.width else "")


def joined_text(event: e.BranchJoined, after: e.Event | None = None) -> str:
    """`wait_all · failure · a success, b failure · c cancelled`; `after` is the visit it begins."""
    stopped = f"{listed(event.cancelled)} cancelled" if event.cancelled else ""
    why = error_text(event.error) if event.error is not None else ""
    return joined(event.policy or "", event.verdict or "", _ends(after) or stopped, why)


def met_text(event: e.BranchJoined, after: e.StepScheduled) -> str:
    """`wait_all · success · l failed · r cancelled`: the branches that did not do their part."""
    lost = failed_branches(after) if event.error is None else []  # an error names them
    failed = f"{listed(lost)} failed" if lost else ""
    stopped = f"{listed(event.cancelled)} cancelled" if event.cancelled else ""
    why = error_text(event.error) if event.error is not None else ""
    return joined(event.policy or "", event.verdict or "", failed, stopped, why)


def failed_branches(event: e.Event) -> list[str]:
    """The branches that failed of those that meet here."""
    results = branch_results(event)
    return [name for name, one in results.items() if one.get("verdict") == Verdict.FAILURE]


def _ends(after: e.Event | None) -> str:
    """How each branch ended, as the visit that takes them up was told."""
    results = branch_results(after)
    return listed([f"{name} {one.get('verdict', 'ended')}" for name, one in results.items()])


def branch_results(event: e.Event | None) -> dict[str, Object]:
    """By branch: its verdict and what it wrote; empty where no branches meet."""
    told = event.args.get("join") if isinstance(event, e.StepScheduled) else None
    results = told.get("results") if isinstance(told, dict) else None
    if not isinstance(results, dict):
        return {}
    return {name: one for name, one in results.items() if isinstance(one, dict)}


def gates_text(event: e.GateChecked) -> str:
    """What an exit heard from the gates, and what follows from it."""
    if event.allow:
        return "all satisfied"
    missing = [f"{name} {_state_of(event.goals.get(name))}" for name in event.unsatisfied]
    back = f"back to {event.to}" if event.to else "nothing left to try"
    count = counted(event.redirects, "redirect") if event.redirects else ""
    return joined(listed(missing), back, count)


def _state_of(verdict: str | None) -> str:
    """Why a gate is not satisfied: its verdict, unless that is the best there is."""
    if verdict == Verdict.SUCCESS:
        return "does not hold"
    return f"is {verdict or 'pending'}"


def is_exit_check(event: e.GateChecked) -> bool:
    """Whether the gates of the run were asked, not the admission gate of a step."""
    return event.visit is not None


def is_past_limit(event: e.GateChecked) -> bool:
    """Whether a step was not begun because the run may not go on in circles: no gate was asked."""
    error = event.error or {}
    return event.rule is None and error.get("kind") == "limit_exceeded"


def question_text(event: e.HumanWaiting) -> str:
    """`Deploy? · [Y] Yes, [N] No · within 1 min, else takes the first choice`."""
    return joined(one_line(event.question), choices_text(event.choices), _limit(event))


def awaited_text(event: e.SignalWaiting) -> str:
    """`paid · within 1 min`."""
    if event.deadline is None:
        return event.signal
    return joined(event.signal, f"within {duration((event.deadline - event.at) / NANOSECONDS)}")


def choices_text(choices: list[str]) -> str:
    """The labels to choose from; empty where any text is an answer."""
    return listed([one_line(label) for label in choices], most=CHOICES_SHOWN)


def _limit(event: e.HumanWaiting) -> str:
    if event.deadline is None:
        return ""
    seconds = (event.deadline - event.at) / NANOSECONDS
    action = silence_text(event.action or TimeoutAction.FAIL, event.default)
    return f"within {duration(seconds)}, else {action}"


def silence_text(action: TimeoutAction, label: str | None) -> str:
    """What follows when nobody answers."""
    match action:
        case TimeoutAction.FIRST:
            return f"takes {one_line(label)}" if label else "takes the first choice"
        case TimeoutAction.SKIP:
            return "continues without an answer"
        case TimeoutAction.RETRY:
            return "counts as a failed attempt"
        case TimeoutAction.FAIL:
            return "gives up"
        case _:
            assert_never(action)


def listed(names: list[str], *, most: int = BRANCHES_SHOWN) -> str:
    """`a, b, c`; a long list is cut and counted."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
