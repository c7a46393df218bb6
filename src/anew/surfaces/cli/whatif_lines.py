"""The answer of a what-if in sentences: what is certain first, then what the model says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anew.lab.whatif.model import OBSERVATIONS_MIN, Rate
from anew.lab.whatif.play import UNKNOWN, Figures
from anew.lab.whatif.report import most_extra_waiting, sorted_rates
from anew.lab.whatif.verdict import Estimate, Rule, Verdict, Whatif
from anew.views.wording import counted, duration

# Of what may be long: the text says how many more there are, and --json has them all.
LISTED_MAX = 20

_DOUBTS = {
    "inputs": "its inputs differ",
    "kind": "its tool differs",
    "timeout": "it may now take longer",
}


def answer_lines(answer: Whatif, new: str, *, each: bool = False) -> Iterator[str]:
    runs = answer.runs
    failed, done = (sum(one.was == word for one in runs) for word in ("failed", "done"))
    yield f"{counted(len(runs), 'run')} ({failed} failed, {done} done), with {new}:"
    yield from _moved_lines(answer)
    yield from _cost_lines(answer)
    yield from _listed("rules", [_rule_line(rule) for rule in answer.rules])
    yield from _model_lines(answer)
    if answer.policies:
        yield f"policies changed: {', '.join(answer.policies)}"
    yield from _listed("changed besides policies", answer.changes)
    yield from _listed("left out", [f"{one.run}: {one.why}" for one in answer.left])
    if each:
        yield "each run:"
        for one in runs:
            yield from _run_lines(one)


def _moved_lines(answer: Whatif) -> Iterator[str]:
    rescued, broken = answer.moved("failed", "done"), answer.moved("done", "failed")
    yield f"  failed → done: {len(rescued)} for certain{_modelled(answer, 'failed', 'done')}"
    yield f"  done → failed: {len(broken)} for certain{_modelled(answer, 'done', 'failed')}"
    for one in broken[:LISTED_MAX]:
        yield f"    {one.run}"
    for one in answer.maybe("done", "failed")[:LISTED_MAX]:
        yield f"    {one.run}: {_percent(one.share('failed'))}"
    yield f"  unknown: {_number(answer.unknown)}{_interval(answer.unknown)}"
    told = dict.fromkeys(why for one in answer.runs for why in one.reasons)
    for why in list(told)[:LISTED_MAX]:
        yield f"    {why}"


def _modelled(answer: Whatif, was: str, to: str) -> str:
    """What the model says of the runs that their logs alone do not decide."""
    needing = sum(one.was == was and not one.is_certain for one in answer.runs)
    if not needing:
        return ""
    found = answer.moved_by_model(was, to)
    return f", {_number(found)} more by the model, of {needing} that need it{_interval(found)}"


def _cost_lines(answer: Whatif) -> Iterator[str]:
    yield f"  calls: {_extra(answer, lambda figures: figures.calls.total())}"
    for task in answer.tasks:
        told = _extra(answer, lambda figures, named=task: figures.calls[named])  # type: ignore[misc]
        yield f"    {_named(*task)}: {told}"
    waiting = answer.extra(lambda figures: figures.waiting)
    most = _signed_duration(most_extra_waiting(answer))
    interval = _interval(waiting, _signed_duration)
    told = f"{_signed_duration(waiting.mean)} in all{interval}"
    yield f"  waiting: {told}, at most {most} in one run"


def _extra(answer: Whatif, figure: Callable[[Figures], float]) -> str:
    """How many more than before, and what share that is."""
    before, extra = answer.before(figure), answer.extra(figure)
    if extra.is_certain and not extra.mean:
        return f"{before:.0f} as before"
    share = f", {extra.mean / before:+.0%}".replace("%", " %") if before else ""
    return f"{before:.0f} before, {_signed(extra.mean)}{share}{_interval(extra, _signed)}"


def _rule_line(rule: Rule) -> str:
    where = "which is gone" if rule.place is None else rule.place
    was = f"old rule {rule.number}"
    matched = f"matched {_number(rule.matched)} times ({was}: {rule.matched_before})"
    spent = f"exhausted {_number(rule.exhausted)} ({was}: {rule.exhausted_before})"
    told = f"{matched}, {spent}" if rule.exhausted.mean or rule.exhausted_before else matched
    return f"rule {rule.number} of {_named(rule.step, rule.task)} ({where}) {told}"


def _model_lines(answer: Whatif) -> Iterator[str]:
    rates = sorted_rates(answer)
    if rates:
        said = f"counted over {counted(answer.counted, 'run')}; "
        said += f"{answer.samples} samples, seed {answer.seed}"
        if answer.samples < answer.samples_wanted:
            said += f", instead of {answer.samples_wanted}: the logs are long"
        yield f"the model ({said}):"
        for rate, used in rates[:LISTED_MAX]:
            yield f"  {_rate_line(rate)}, used {used:.1f} times a sample"
    doubtful = [
        f"{_short(number)} executions were answered by the log although {_DOUBTS[name]}"
        for name, number in answer.doubts.items()
        if number
    ]
    drawn = f"{_short(answer.drawn)} random numbers are not those of the logs"
    yield from _listed("in doubt", [*doubtful, *([drawn] if answer.drawn else [])])


def _rate_line(rate: Rate) -> str:
    cell = rate.cell
    attempt = "any attempt" if cell.attempt is None else f"attempt {cell.attempt}"
    after = f" after {cell.after}" if cell.after else ""
    few = " (no more exact rate has enough)" if rate.observations < OBSERVATIONS_MIN else ""
    went = f"{rate.successes} of {rate.observations} went well{few}"
    return f"{_named(cell.step, cell.task)}, {attempt}{after}: {went}"


def _run_lines(one: Verdict) -> Iterator[str]:
    calls = one.estimate(lambda figures: figures.calls.total())
    waiting = one.estimate(lambda figures: figures.waiting)
    cost = f"calls {_signed(calls.mean)}, waiting {_signed_duration(waiting.mean)}"
    yield f"  {one.run}  {one.was} → {_becomes(one)}  {cost}"
    departs = one.departs
    if departs is not None:
        was, now = departs.was or "nothing more", departs.becomes or "nothing more"
        yield f"    from seq {departs.seq} on, {departs.place}: {was} → {now}"


def _becomes(one: Verdict) -> str:
    if one.is_certain:
        return one.plays[0].status
    shares = {word: one.share(word) for word in ("done", "failed", UNKNOWN)}
    return ", ".join(f"{word} {_percent(share)}" for word, share in shares.items() if share)


def _listed(what: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{what}:"
    yield from (f"  {line}" for line in lines[:LISTED_MAX])
    if len(lines) > LISTED_MAX:
        yield f"  and {len(lines) - LISTED_MAX} more (--json has all)"


def _named(step: str, task: str) -> str:
    return step if step == task else f"{step}.{task}"


def _number(found: Estimate) -> str:
    return _short(found.mean)


def _short(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def _signed(number: float) -> str:
    return f"+{_short(number)}" if number >= 0 else f"-{_short(-number)}"


def _signed_duration(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{duration(abs(seconds))}"


def _interval(found: Estimate, told: Callable[[float], str] = _short) -> str:
    if found.is_certain:
        return ""
    return f" (95 % interval {told(found.low)} to {told(found.high)})"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
