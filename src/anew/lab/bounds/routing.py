"""Where a visit can lead, by how it ended: arcs, the step's rescue, the fallback, the gates.

Conditions may be anything, except where the boundary event or the verdict decides them. Counts
nothing: what a run has used up is the walker's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from anew.engine.events.words import RouteReason
from anew.engine.router import EVENT_WORDS
from anew.expressions import UNDEFINED, Condition
from anew.lab.bounds.static_values import Facts, truth_of
from anew.lab.bounds.visits import VisitEnding
from anew.program.policy import Verdict
from anew.program.program import Arc, Program, RouteMode, Step

_TREES_MAX = 10_000


class TokenWay(Struct, frozen=True):
    """One token that leaves: by an arc, which has a number, or `via` what."""

    to: str
    via: str | None = None
    arc: int | None = None


class Onward(Struct, frozen=True):
    """What can follow a visit: one of `choices`, or all of `together`, or nothing at all.

    `is_lost`: the failure, or the missing route, may find no arc and go where failures go.
    """

    choices: tuple[TokenWay, ...] = ()
    together: tuple[TokenWay, ...] = ()
    is_fork: bool = False
    may_end: bool = False
    is_lost: bool = False


def onward(program: Program, step: Step, ending: VisitEnding) -> Onward:
    """Where the arcs of a step lead after a visit that ended so."""
    if ending.to is not None:
        return Onward((TokenWay(ending.to, RouteReason.RETRY_TARGET),))
    has_failed = ending.verdict is Verdict.FAILURE
    if not has_failed:
        event = "step.done" if step.loop is None else "loop.done"
        return _after(program, step, event, ending.verdict)
    found = _after(program, step, "step.failed", ending.verdict)
    if step.loop is None or not any(arc.counts_failures for arc in step.router.arcs):
        return found
    # An arc that counts a loop's failures handles them before they are one.
    counted = _after(program, step, "loop.done", ending.verdict)
    return _either(found, counted)


def _either(one: Onward, other: Onward) -> Onward:
    return Onward(
        tuple(dict.fromkeys((*one.choices, *other.choices))),
        tuple(dict.fromkeys((*one.together, *other.together))),
        one.is_fork or other.is_fork,
        one.may_end,
        one.is_lost,
    )


def _after(program: Program, step: Step, event: str, verdict: Verdict) -> Onward:
    has_failed = event == "step.failed"
    router = step.router
    open_arcs = list(_open(program, step, event, verdict))
    is_fork = router.mode is RouteMode.FORK and not has_failed and bool(router.arcs)
    if is_fork:
        ways = tuple(TokenWay(arc.to, None, number) for number, arc, _ in open_arcs)
        return Onward(together=ways, is_fork=True)
    none = not any(holds and arc.most is None for _, arc, holds in open_arcs)
    ways = tuple(TokenWay(arc.to, None, number) for number, arc, _ in open_arcs)
    must_choose = not has_failed and router.must_choose and bool(router.arcs)
    ends = none and not has_failed and not must_choose
    is_lost = none and (has_failed or (must_choose and not router.gives_up))
    may_end = ends or (none and must_choose and router.gives_up)
    if router.mode is RouteMode.INCLUSIVE and len(ways) > 1:
        return Onward((), ways, False, may_end, is_lost)
    return Onward(ways, (), False, may_end, is_lost)


def _open(
    program: Program, step: Step, event: str, verdict: Verdict
) -> Iterator[tuple[int, Arc, bool]]:
    """The arcs that can be taken, in the order they are asked; whether each surely holds."""
    router, has_failed = step.router, event == "step.failed"
    is_ordered = router.mode is RouteMode.PREFERRED
    numbered = router.ranked if is_ordered else tuple(enumerate(router.arcs, 1))
    if router.mode is RouteMode.FORK and not has_failed:
        yield from ((number, arc, True) for number, arc in numbered)
        return
    for number, arc in numbered:
        if arc.when is None and has_failed and not arc.answers_failure:
            continue
        holds = _holds(program, arc.when, event, verdict)
        if holds is False or (arc.most is not None and arc.most < 1):
            continue
        yield number, arc, holds is True
        # Ways without a condition are all open to a preferred router, by label or suggestion.
        is_open = is_ordered and arc.when is None
        if holds and arc.most is None and not is_open and router.mode is not RouteMode.INCLUSIVE:
            return


def _holds(
    program: Program, condition: Condition | None, event: str, verdict: Verdict
) -> bool | None:
    if condition is None or condition.is_constant or program.language != "dot":
        return truth_of(condition, _facts(event, verdict))
    return _holds_in_graph(str(condition.source), program.dialect, verdict)


def _facts(event: str, verdict: Verdict) -> Facts:
    facts: dict[tuple[str, ...], object] = {("event", "name"): EVENT_WORDS[event]}
    if event == "step.failed":
        facts["event", "result"] = UNDEFINED
        return facts
    facts["event", "error"] = UNDEFINED
    if event == "step.done":
        facts["event", "failed"] = UNDEFINED
    elif verdict is not Verdict.FAILURE:
        facts["event", "failed"] = 0
    return facts


@lru_cache(maxsize=_TREES_MAX)
def _holds_in_graph(text: str, dialect: str, verdict: Verdict) -> bool | None:
    # Only those who ask for a graph pay for its language.
    from anew.languages.dot.conditions.checking import holds_for_status  # noqa: PLC0415
    from anew.languages.dot.conditions.docs_grammar import parse_docs  # noqa: PLC0415
    from anew.languages.dot.conditions.problems import ConditionError  # noqa: PLC0415
    from anew.languages.dot.conditions.spec_grammar import parse_spec  # noqa: PLC0415
    from anew.languages.dot.graph import DotDialect  # noqa: PLC0415

    known = DotDialect(dialect)
    try:
        tree = parse_docs(text)[0] if known is DotDialect.DOCS else parse_spec(text)
    except ConditionError:
        return None
    return holds_for_status(tree, verdict, dialect=known)


def rescue(program: Program, step: Step, *, in_branch: bool) -> TokenWay | None:
    """Where a failure goes that no arc takes."""
    if step.rescue is not None:
        return TokenWay(step.rescue, RouteReason.RETRY_TARGET)
    if program.fallback is None or in_branch or program.fallback == step.name:
        return None
    return TokenWay(program.fallback, RouteReason.FALLBACK)
