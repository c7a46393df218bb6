"""The answer of a what-if in sentences: what is certain first, then what the model says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anew.lab.whatif.comparability import SAME_MOMENT_SHARE
from anew.lab.whatif.estimates import Estimate
from anew.lab.whatif.model import Basis, Rate
from anew.lab.whatif.play import Figures, PlayEnd
from anew.lab.whatif.report import sorted_rates
from anew.lab.whatif.verdict import RuleChange, RunVerdict, Whatif
from anew.views.wording import counted, duration

# Of what may be long: the text says how many more there are, and --json has them all.
LISTED_MAX = 20

_DOUBTS = {
    "inputs": "answered by the log, with other inputs",
    "kind": "answered by the log, of another tool",
    "timeout": "that timed out, with more time now",
    "sooner": f"answered by the log, asked sooner by more than {SAME_MOMENT_SHARE:.0%}".replace(
        "%", " %"
    ),
    "later": f"answered by the log, asked later by more than {SAME_MOMENT_SHARE:.0%}".replace(
        "%", " %"
    ),
    "borrowed": "given by the model a result of other inputs",
}
# What is less than this is not shown as nothing.
_LEAST = 0.05


def answer_lines(answer: Whatif, new: str, *, each: bool = False) -> Iterator[str]:
    runs = answer.runs
    failed, done = (sum(one.was == word for one in runs) for word in (PlayEnd.FAILED, PlayEnd.DONE))
    yield f"{counted(len(runs), 'run')} ({failed} failed, {done} done), with {new}:"
    if answer.retried:
        yield f"  {answer.retried} of them continue from another one (anew retry, fork); both count"
    yield f"  {_sureness(answer)}"
    yield from _moved_lines(answer)
    yield from _cost_lines(answer)
    yield from _listed("rules", [line for rule in answer.rules for line in _rule_lines(rule)])
    yield from _model_lines(answer)
    if answer.policies:
        yield f"policies changed: {', '.join(answer.policies)}"
    yield from _listed("changed apart from policies", answer.changes)
    yield from _listed("left out", [f"{one.run}: {one.why}" for one in answer.left])
    if each:
        yield "each run:"
        for one in runs:
            yield from _run_lines(one)


def _sureness(answer: Whatif) -> str:
    """How many runs are told for certain, and what the others hang on."""
    certain, decided = answer.certain, answer.decided
    unsure = len(answer.runs) - decided - answer.skipped
    parts = [f"{certain} for certain"]
    if decided > certain:
        parts.append(f"{decided - certain} if what is in doubt holds")
    if unsure:
        parts.append(f"{unsure} by {_by(answer.runs)}")
    if answer.skipped:
        parts.append(f"{answer.skipped} unknown")
    return f"how they end: {', '.join(parts)}"


def _by(runs: list[RunVerdict]) -> str:
    is_modelled = any(play.modelled for one in runs for play in one.plays)
    return "the model" if is_modelled else "chance"


def _moved_lines(answer: Whatif) -> Iterator[str]:
    yield f"  failed → done: {_moved(answer, PlayEnd.FAILED, PlayEnd.DONE)}"
    yield f"  done → failed: {_moved(answer, PlayEnd.DONE, PlayEnd.FAILED)}"
    for one in answer.moved(PlayEnd.DONE, PlayEnd.FAILED)[:LISTED_MAX]:
        yield f"    {one.run}"
    for one in answer.supposed(PlayEnd.DONE, PlayEnd.FAILED)[:LISTED_MAX]:
        yield f"    {one.run}: in doubt"
    for one in answer.maybe(PlayEnd.DONE, PlayEnd.FAILED)[:LISTED_MAX]:
        yield f"    {one.run}: {_percent(one.share(PlayEnd.FAILED))}"
    unknown = answer.unknown
    yield f"  unknown: {_short(unknown.mean)}{_interval(unknown)}"
    told = dict.fromkeys(why for one in answer.runs for why in one.reasons)
    for why in list(told)[:LISTED_MAX]:
        yield f"    {why}"
    if answer.skipped:
        yield f"  without {counted(answer.skipped, 'run')} of unknown end:"


def _moved(answer: Whatif, was: PlayEnd, to: PlayEnd) -> str:
    """What is certain; what hangs on answers to other questions; what the model or chance says."""
    told = f"{len(answer.moved(was, to))} for certain"
    supposed, open_runs = len(answer.supposed(was, to)), answer.open_runs(was)
    if supposed:
        told += f", {supposed} more if what is in doubt holds"
    if open_runs:
        found = answer.moved_by_model(was, to)
        told += f", {_short(found.mean)} more by {_by(open_runs)}, of {len(open_runs)} that need it"
        told += _interval(found, always=True)
    return told


def _cost_lines(answer: Whatif) -> Iterator[str]:
    yield f"  calls: {_extra(answer, lambda figures: figures.calls.total())}"
    for task in answer.tasks:
        told = _extra(answer, lambda figures, named=task: figures.calls[named])  # type: ignore[misc]
        yield f"    {_named(*task)}: {told}"
    waiting = answer.extra(lambda figures: figures.waiting)
    interval = _interval(waiting, _signed_duration)
    told = f"{_signed_duration(waiting.mean)} in all{interval}"
    most = _signed_duration(answer.most_waiting)
    yield f"  waiting for retries and jumps: {told}, at most {most} in one run"


def _extra(answer: Whatif, figure: Callable[[Figures], float]) -> str:
    """How many more than before, and what share that is."""
    before, extra = answer.before(figure), answer.extra(figure)
    if extra.is_certain and not extra.mean:
        return f"{before:.0f} as before"
    part = round(100 * extra.mean / before) if before else 0
    share = f", {part:+d} %" if part else ""
    return f"{before:.0f} before, {_signed(extra.mean)}{share}{_interval(extra, _signed)}"


def _rule_lines(rule: RuleChange) -> Iterator[str]:
    """How often it matched; below that, what came of it."""
    before = rule.before
    where = "gone" if rule.place is None else rule.place
    matched = f"matched {_many(rule.matched.mean, 'time')}, {before.matched} before"
    asked = rule.name or f"rule {abs(rule.number)}"
    yield f"{asked} of {_named(rule.step, rule.task)} ({where}): {matched}"
    parts = []
    if rule.retries.mean or before.retries:
        parts.append(f"{_many(rule.retries.mean, 'retry')} ({before.retries} before)")
    if rule.waiting.mean or before.waiting:
        waited = f"{duration(rule.waiting.mean)} of waiting"
        parts.append(f"{waited} ({duration(before.waiting)} before)")
    if rule.exhausted.mean or before.exhausted:
        parts.append(f"{_many(rule.exhausted.mean, 'time')} exhausted ({before.exhausted} before)")
    if rule.rescued.mean:
        parts.append(f"{_many(rule.rescued.mean, 'run')} rescued{_interval(rule.rescued)}")
    if parts:
        yield f"  {', '.join(parts)}"


def _model_lines(answer: Whatif) -> Iterator[str]:
    rates = sorted_rates(answer)
    said = f"{answer.samples} samples, seed {answer.seed}"
    if answer.samples < answer.samples_wanted:
        said += f", instead of {answer.samples_wanted}: there is much to play"
    if rates:
        yield f"the model (counted over {counted(answer.counted, 'run')}; {said}):"
        for rate, used in rates[:LISTED_MAX]:
            yield f"  {_rate_line(rate)}, used {_many(used, 'time')} a sample"
        if answer.uncounted:
            asked = "asked something else than this document does"
            yield f"  not counted: {counted(answer.uncounted, 'execution')} that {asked}"
    doubts = {_DOUBTS[name]: number for name, number in answer.doubts.items() if number}
    lines = [f"executions {words}: {_short(number)}" for words, number in doubts.items()]
    if answer.drawn:
        numbers = f"random numbers that the logs do not have ({said})"
        lines.append(f"{numbers}: {_short(answer.drawn)}")
    yield from _listed("in doubt", lines)


def _rate_line(rate: Rate) -> str:
    cell = rate.cell
    which = {
        Basis.FIRST: "first tries",
        Basis.EXACT: f"attempt {cell.attempt} after {cell.after}",
        Basis.AFTER: f"retries after {cell.after}",
        Basis.RETRY: "retries after any failure",
    }[cell.basis]
    named = _named(cell.step, cell.task)
    return f"{named}, {which}: {rate.successes} of {rate.observations} succeeded"


def _run_lines(one: RunVerdict) -> Iterator[str]:
    calls = one.estimate(lambda figures: figures.calls.total())
    waiting = one.estimate(lambda figures: figures.waiting)
    cost = f"calls {_signed(calls.mean)}, waiting {_signed_duration(waiting.mean)}"
    yield f"  {one.run}  {one.was} → {_becomes(one)}  {cost}"
    departs = one.departs
    if departs is not None:
        was, now = departs.was or "nothing more", departs.becomes or "nothing more"
        yield f"    from seq {departs.seq} on, {departs.place}: {was} → {now}"


def _becomes(one: RunVerdict) -> str:
    if one.is_decided:
        return one.plays[0].status + ("" if one.is_certain else " (in doubt)")
    shares = {end.value: one.share(end) for end in PlayEnd}
    return ", ".join(f"{word} {_percent(share)}" for word, share in shares.items() if share)


def _listed(what: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{what}:"
    yield from (f"  {line}" for line in lines[:LISTED_MAX])
    if len(lines) > LISTED_MAX:
        yield f"  and {len(lines) - LISTED_MAX} more (--json has all)"


def _named(step: str, task: str) -> str:
    return step if step == task else f"{step}.{task}"


def _short(number: float) -> str:
    """To a tenth; what is less than that and not nothing says so."""
    if 0 < abs(number) < _LEAST:
        return "<0.1"
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def _many(number: float, noun: str) -> str:
    """`1 retry`, `2 retries`, `2.4 retries`."""
    whole = int(number) if number == int(number) else 2
    return f"{_short(number)} {counted(whole, noun).rpartition(' ')[2]}"


def _signed(number: float) -> str:
    return f"+{_short(number)}" if number >= 0 else f"-{_short(-number)}"


def _signed_duration(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{duration(abs(seconds))}"


def _interval(
    found: Estimate, told: Callable[[float], str] = _short, *, always: bool = False
) -> str:
    if found.is_certain and not always:
        return ""
    return f" (95 % interval {told(found.low)} to {told(found.high)})"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
