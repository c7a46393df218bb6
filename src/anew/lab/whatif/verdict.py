"""What a changed program would have made of past runs: verdict by verdict, and in all.

Counts and estimates only. How they are told to people is a matter of surfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil

from msgspec import Struct, field

from anew.lab.whatif.answering import Doubts
from anew.lab.whatif.decisions import Departure
from anew.lab.whatif.model import Rate
from anew.lab.whatif.play import UNKNOWN, Figures, Named, NamedRule, Play
from anew.lab.whatif.report import DIGITS, report_of
from anew.program.program import Program
from anew.values import Object

# The share of samples that an interval holds.
INTERVAL = 0.95


class Estimate(Struct, frozen=True):
    """A number that is certain (`low` equals `high`), or has a 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def is_certain(self) -> bool:
        return self.low == self.high

    def report(self) -> Object:
        return {
            "mean": round(self.mean, DIGITS),
            "low": round(self.low, DIGITS),
            "high": round(self.high, DIGITS),
        }


class Left(Struct, frozen=True):
    """A run that says nothing here, and why."""

    run: str
    why: str


class Verdict(Struct):
    """One past run: how it `was`, and how it ended each time it was played: once if certain."""

    run: str
    was: str
    before: Figures
    plays: list[Play]
    departs: Departure | None = None

    def in_sample(self, number: int) -> Play:
        return self.plays[number] if len(self.plays) > 1 else self.plays[0]

    @property
    def is_certain(self) -> bool:
        """Whether the log alone says how it would have ended."""
        first = self.plays[0]
        return first.is_known and not any(
            one.modelled or one.status != first.status for one in self.plays
        )

    def share(self, status: str) -> float:
        """In how many of the plays it ended so, as a fraction."""
        return sum(one.status == status for one in self.plays) / len(self.plays)

    @property
    def reasons(self) -> list[str]:
        """Why it is unknown in some of the plays."""
        told = [_reason(one) for one in self.plays if not one.is_known]
        return list(dict.fromkeys(told))

    def estimate(self, extra: Callable[[Figures], float]) -> Estimate:
        """A figure of this run beyond what it was; plays that are unknown count for nothing."""
        return estimate(_beyond(self, one, extra) for one in self.plays if one.is_known)


class Rule(Struct, frozen=True):
    """What a rule did in the past runs, and would have done. `place` is where it stands now."""

    step: str
    task: str
    number: int
    place: str | None
    matched: Estimate
    matched_before: int
    exhausted: Estimate
    exhausted_before: int


class Whatif(Struct):
    """The answer. `left` are runs that could not be played; `policies` those that changed.

    `changes` are the differences beside policies. `rates` are those the model used, with how often
    a sample used them; `counted` is the number of runs behind them.
    """

    program: Program
    runs: list[Verdict]
    left: list[Left]
    samples: int
    samples_wanted: int
    seed: int
    rates: dict[Rate, float] = field(default_factory=dict)
    counted: int = 0
    policies: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def moved(self, was: str, to: str) -> list[Verdict]:
        """The runs that would for certain have ended otherwise."""
        return [
            one
            for one in self.runs
            if one.was == was and one.is_certain and one.plays[0].status == to
        ]

    def maybe(self, was: str, to: str) -> list[Verdict]:
        """The runs that would have ended otherwise in some of the samples only."""
        return [
            one for one in self.runs if one.was == was and not one.is_certain and one.share(to) > 0
        ]

    def moved_by_model(self, was: str, to: str) -> Estimate:
        """How many runs that are not certain would have ended otherwise."""
        runs = [one for one in self.runs if one.was == was and not one.is_certain]
        return self._over_samples(
            lambda number: sum(one.in_sample(number).status == to for one in runs)
        )

    @property
    def unknown(self) -> Estimate:
        return self._over_samples(
            lambda number: sum(one.in_sample(number).status == UNKNOWN for one in self.runs)
        )

    def extra(self, figure: Callable[[Figures], float]) -> Estimate:
        """A figure of all runs beyond what it was, where it is known."""
        return self._over_samples(
            lambda number: sum(_beyond(one, one.in_sample(number), figure) for one in self.runs)
        )

    def before(self, figure: Callable[[Figures], float]) -> float:
        return sum(figure(one.before) for one in self.runs)

    @property
    def tasks(self) -> list[Named]:
        """Every task that was or would have been called, in the order of the program."""
        named = {
            task: None
            for one in self.runs
            for figures in (one.before, *(play.figures for play in one.plays))
            if figures is not None
            for task in figures.calls
        }
        steps = list(self.program.steps)
        return sorted(named, key=lambda task: steps.index(task[0]) if task[0] in steps else -1)

    @property
    def rules(self) -> list[Rule]:
        """Every rule that matched, or would have."""
        named = {
            rule: None
            for one in self.runs
            for figures in (one.before, *(play.figures for play in one.plays))
            if figures is not None
            for rule in figures.matched
        }
        return [self._rule(rule) for rule in sorted(named)]

    @property
    def doubts(self) -> dict[str, float]:
        """Executions that the log answered to another question, on average, by what differs."""
        counts = dict.fromkeys(Doubts.__struct_fields__, 0.0)
        for one in self.runs:
            for play in one.plays:
                for name in counts:
                    counts[name] += getattr(play.doubts, name) / len(one.plays)
        return counts

    @property
    def drawn(self) -> float:
        """Random numbers that the logs do not have, on average."""
        return sum(sum(play.chance for play in one.plays) / len(one.plays) for one in self.runs)

    @property
    def is_worse(self) -> bool:
        """Whether a run that was done would, or might, have failed."""
        return bool(self.moved("done", "failed") or self.maybe("done", "failed"))

    def _rule(self, named: NamedRule) -> Rule:
        step, task, number = named
        matched = self.extra(lambda figures: figures.matched[named])
        exhausted = self.extra(lambda figures: figures.exhausted[named])
        was = int(self.before(lambda figures: figures.matched[named]))
        spent = int(self.before(lambda figures: figures.exhausted[named]))
        return Rule(
            step,
            task,
            number,
            self._place(named),
            _shifted(matched, was),
            was,
            _shifted(exhausted, spent),
            spent,
        )

    def _place(self, named: NamedRule) -> str | None:
        step, label, number = named
        found = self.program.steps.get(step)
        index = None if found is None else found.index_of.get(label)
        if found is None or index is None:
            return None
        rules = found.tasks[index].policy.rules
        if number > len(rules):
            return None
        span = rules[number - 1].span
        return f"{span.file}:{span.line}"

    def _over_samples(self, count: Callable[[int], float]) -> Estimate:
        is_sampled = any(len(one.plays) > 1 for one in self.runs)
        return estimate(count(number) for number in range(self.samples if is_sampled else 1))

    def report(self) -> Object:
        """The JSON object of `anew whatif --json`."""
        return report_of(self)


def estimate(values: Iterable[float]) -> Estimate:
    """The mean of some numbers, and the interval that holds 95 % of them."""
    ordered = sorted(map(float, values))
    if not ordered:
        return Estimate(0.0, 0.0, 0.0)
    outside = (1 - INTERVAL) / 2
    low = ordered[int(outside * len(ordered))]
    high = ordered[ceil((1 - outside) * len(ordered)) - 1]
    return Estimate(sum(ordered) / len(ordered), low, high)


def _beyond(one: Verdict, played: Play, figure: Callable[[Figures], float]) -> float:
    return 0.0 if played.figures is None else figure(played.figures) - figure(one.before)


def _shifted(found: Estimate, by: float) -> Estimate:
    return Estimate(found.mean + by, found.low + by, found.high + by)


def _reason(played: Play) -> str:
    asked = played.asked
    if asked is None:
        return played.why
    step, task = asked.key.step, asked.label
    named = step if step == task else f"{step}.{task}"
    return f"{named} attempt {asked.attempt}: {played.why}"
