"""The answer of a what-if as one JSON object: the shape that `anew whatif --json` documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anew.lab.whatif.estimates import DIGITS
from anew.lab.whatif.model import Rate
from anew.lab.whatif.play import Named, PlayEnd
from anew.values import Object

if TYPE_CHECKING:
    from anew.lab.whatif.verdict import RuleChange, RunVerdict, Whatif


def report_of(answer: Whatif) -> Object:
    runs = answer.runs
    return {
        "program": answer.program.name,
        "digest": answer.program.digest,
        "samples": answer.samples,
        "seed": answer.seed,
        "counted": answer.counted,
        "uncounted": answer.uncounted,
        "runs": len(runs),
        "retried": answer.retried,
        "done": sum(one.was == PlayEnd.DONE for one in runs),
        "failed": sum(one.was == PlayEnd.FAILED for one in runs),
        "certain": answer.certain,
        "supposed": answer.decided - answer.certain,
        "rescued": _moved(answer, PlayEnd.FAILED, PlayEnd.DONE),
        "broken": _moved(answer, PlayEnd.DONE, PlayEnd.FAILED),
        "unknown": answer.unknown.report(),
        "skipped": answer.skipped,
        "calls": _calls(answer),
        "waiting": {
            "before": _rounded(answer.before(lambda figures: figures.waiting)),
            "extra": answer.extra(lambda figures: figures.waiting).report(),
            "most": _rounded(answer.most_waiting),
        },
        "elapsed": {
            "before": _rounded(answer.before(lambda figures: figures.elapsed)),
            "extra": answer.extra(lambda figures: figures.elapsed).report(),
        },
        "rules": [_rule(rule) for rule in answer.rules],
        "rates": [_rate(rate, used) for rate, used in sorted_rates(answer)],
        "doubtful": {name: _rounded(count) for name, count in answer.doubts.items()},
        "draws": _rounded(answer.drawn),
        "policies": answer.policies,
        "changes": answer.changes,
        "left_out": [{"run": one.run, "why": one.why} for one in answer.left],
        "each": [_run(one) for one in runs],
    }


def sorted_rates(answer: Whatif) -> list[tuple[Rate, float]]:
    """The rates the model used, the most used first."""
    return sorted(answer.rates.items(), key=lambda item: (-item[1], item[0].cell.task))


def calls_of(answer: Whatif, task: Named) -> Object:
    before = int(answer.before(lambda figures: figures.calls[task]))
    extra = answer.extra(lambda figures: figures.calls[task])
    return {"step": task[0], "task": task[1], "before": before, "extra": extra.report()}


def _calls(answer: Whatif) -> Object:
    return {
        "before": int(answer.before(lambda figures: figures.calls.total())),
        "extra": answer.extra(lambda figures: figures.calls.total()).report(),
        "tasks": [calls_of(answer, task) for task in answer.tasks],
    }


def _moved(answer: Whatif, was: PlayEnd, to: PlayEnd) -> Object:
    return {
        "certain": [one.run for one in answer.moved(was, to)],
        "supposed": [one.run for one in answer.supposed(was, to)],
        "modelled": answer.moved_by_model(was, to).report(),
        "maybe": {one.run: _rounded(one.share(to)) for one in answer.maybe(was, to)},
    }


def _rule(rule: RuleChange) -> Object:
    before = rule.before
    return {
        "step": rule.step,
        "task": rule.task,
        "rule": abs(rule.number),
        "rule_name": rule.name,
        "place": rule.place,
        "matched": rule.matched.report(),
        "matched_before": before.matched,
        "exhausted": rule.exhausted.report(),
        "exhausted_before": before.exhausted,
        "retries": rule.retries.report(),
        "retries_before": before.retries,
        "waiting": rule.waiting.report(),
        "waiting_before": _rounded(before.waiting),
        "rescued": rule.rescued.report(),
    }


def _rate(rate: Rate, used: float) -> Object:
    cell = rate.cell
    return {
        "step": cell.step,
        "task": cell.task,
        "attempt": cell.attempt,
        "after": cell.after,
        "basis": cell.basis.value,
        "successes": rate.successes,
        "observations": rate.observations,
        "used": _rounded(used),
    }


def _run(one: RunVerdict) -> Object:
    departs = one.departs
    return {
        "run": one.run,
        "was": one.was,
        "becomes": one.plays[0].status if one.is_decided else None,
        "certain": one.is_certain,
        "shares": {end.value: _rounded(one.share(end)) for end in PlayEnd},
        "calls": one.estimate(lambda figures: figures.calls.total()).report(),
        "waiting": one.estimate(lambda figures: figures.waiting).report(),
        "unknown": one.reasons,
        "differs": None
        if departs is None
        else {
            "place": departs.place,
            "seq": departs.seq,
            "was": departs.was,
            "becomes": departs.becomes,
        },
    }


def _rounded(number: float) -> float:
    return round(number, DIGITS)
