"""What a changed program would have made of past runs: verdict by verdict, and in all.

Counts and estimates only. How they are told to people is a matter of surfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field

from anew.lab.decisions import Departure
from anew.lab.whatif.comparability import Doubts
from anew.lab.whatif.estimates import Estimate, estimate, shifted
from anew.lab.whatif.model import Rate
from anew.lab.whatif.play import Figures, Named, NamedRule, Play, PlayEnd, RuleTally
from anew.lab.whatif.report import report_of
from anew.program.policy import Rule
from anew.program.program import Program
from anew.values import Object

_WHOLE = ("matched", "exhausted", "retries", "helped")


class SkippedRun(Struct, frozen=True):
    """A run that says nothing here, and why."""

    run: str
    why: str


class RunVerdict(Struct):
    """One past run: how it `was`, and how it ended each time it was played: once if decided.

    `edges` is how it ends when chance that no log has is as low, and as high, as it can be;
    `known` are the plays whose end is known.
    """

    run: str
    was: PlayEnd
    before: Figures
    plays: list[Play]
    departs: Departure | None = None
    edges: tuple[PlayEnd, ...] = ()
    known: list[Play] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = [one for one in self.plays if one.is_known]

    def in_sample(self, number: int) -> Play:
        return self.plays[number] if len(self.plays) > 1 else self.plays[0]

    def known_in_sample(self, number: int) -> Play | None:
        """A play whose end is known, another one where that of the sample is not."""
        return self.known[number % len(self.known)] if self.known else None

    @property
    def is_decided(self) -> bool:
        """Whether the answers of the log say how it would have ended, apt or not."""
        endings = {*(one.status for one in self.plays), *self.edges}
        return len(endings) == 1 and all(one.is_known and not one.modelled for one in self.plays)

    @property
    def is_certain(self) -> bool:
        """Whether the log answers these very questions at these moments, and chance has no say."""
        return self.is_decided and not any(one.doubts.total or one.chance for one in self.plays)

    def share(self, status: PlayEnd) -> float:
        """In how many of the plays it ended so, as a fraction."""
        return sum(one.status == status for one in self.plays) / len(self.plays)

    @property
    def reasons(self) -> list[str]:
        """Why it is unknown in some of the plays."""
        told = [_reason(one) for one in self.plays if not one.is_known]
        return list(dict.fromkeys(told))

    def estimate(self, extra: Callable[[Figures], float]) -> Estimate:
        """A figure of this run beyond what it was; plays that are unknown count for nothing."""
        return estimate(self.beyond(one, extra) for one in self.known)

    def beyond(self, play: Play | None, figure: Callable[[Figures], float]) -> float:
        """How much more a play has than the run had; nothing where that is not known."""
        if play is None or play.figures is None:
            return 0.0
        return figure(play.figures) - figure(self.before)


class RuleChange(Struct, frozen=True):
    """What a rule did in the past runs, and would have done. `place` is where it stands now,
    `name` what its author wrote in place of a rule (`retry_when`), if that is not one.

    A rule that is gone has the number it had, negative. `rescued` are the failed runs that would
    have been done, and in which it dealt with more failures than before.
    """

    step: str
    task: str
    number: int
    place: str | None
    name: str | None
    before: RuleTally
    matched: Estimate
    exhausted: Estimate
    retries: Estimate
    waiting: Estimate
    rescued: Estimate


class Whatif(Struct):
    """The answer. `left` are runs that could not be played; `policies` those that changed.

    `changes` are the differences beside policies. `rates` are those the model used, with how often
    a sample used them; `counted` is the number of runs behind them, `uncounted` that of executions
    which asked something else than the changed program does. `retried` are runs that go on from
    another one of them (`anew retry`, `anew fork`): both count.
    """

    program: Program
    runs: list[RunVerdict]
    left: list[SkippedRun]
    samples: int
    samples_wanted: int
    seed: int
    rates: dict[Rate, float] = field(default_factory=dict)
    counted: int = 0
    uncounted: int = 0
    policies: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    retried: int = 0

    @property
    def certain(self) -> int:
        return sum(one.is_certain for one in self.runs)

    @property
    def decided(self) -> int:
        return sum(one.is_decided for one in self.runs)

    def moved(self, was: PlayEnd, to: PlayEnd) -> list[RunVerdict]:
        """The runs that would for certain have ended otherwise."""
        return [one for one in self._decided(was, to) if one.is_certain]

    def supposed(self, was: PlayEnd, to: PlayEnd) -> list[RunVerdict]:
        """The runs that would have, if the world had answered as it did to other questions."""
        return [one for one in self._decided(was, to) if not one.is_certain]

    def _decided(self, was: PlayEnd, to: PlayEnd) -> list[RunVerdict]:
        runs = (one for one in self.runs if one.was == was and one.is_decided)
        return [one for one in runs if one.plays[0].status == to]

    def open_runs(self, was: PlayEnd) -> list[RunVerdict]:
        """The runs that the model, or chance, decides."""
        return [one for one in self.runs if one.was == was and not one.is_decided and one.known]

    def maybe(self, was: PlayEnd, to: PlayEnd) -> list[RunVerdict]:
        """Those of them that would have ended otherwise in some of the samples."""
        return [one for one in self.open_runs(was) if one.share(to) > 0]

    def moved_by_model(self, was: PlayEnd, to: PlayEnd) -> Estimate:
        """How many of them would have ended otherwise."""
        runs = self.open_runs(was)
        return self._over_samples(
            lambda number: sum(one.in_sample(number).status == to for one in runs)
        )

    @property
    def unknown(self) -> Estimate:
        return self._over_samples(
            lambda number: sum(one.in_sample(number).status == PlayEnd.UNKNOWN for one in self.runs)
        )

    @property
    def skipped(self) -> int:
        """How many runs are never known: figures leave them out, before and after."""
        return sum(not one.known for one in self.runs)

    def extra(self, figure: Callable[[Figures], float]) -> Estimate:
        """A figure of all runs beyond what it was, where it is known."""
        return self._over_samples(
            lambda number: sum(one.beyond(one.known_in_sample(number), figure) for one in self.runs)
        )

    def before(self, figure: Callable[[Figures], float]) -> float:
        return sum(figure(one.before) for one in self.runs if one.known)

    @property
    def most_waiting(self) -> float:
        """The longest that any one run waits more, in any sample."""
        found = (
            one.beyond(play, lambda figures: figures.waiting)
            for one in self.runs
            for play in one.known
        )
        return max(found, default=0.0)

    @property
    def tasks(self) -> list[Named]:
        """Every task that was or would have been called, in the order of the program."""
        named = {task: None for figures in self._all_figures() for task in figures.calls}
        steps = list(self.program.steps)
        return sorted(named, key=lambda task: steps.index(task[0]) if task[0] in steps else -1)

    @property
    def rules(self) -> list[RuleChange]:
        """Every rule that matched, or would have."""
        named = {rule: None for figures in self._all_figures() for rule in figures.rules}
        return [self._rule(rule) for rule in sorted(named)]

    def _all_figures(self) -> Iterable[Figures]:
        for one in self.runs:
            if one.known:
                yield one.before
            yield from (play.figures for play in one.known if play.figures is not None)

    @property
    def doubts(self) -> dict[str, float]:
        """Answers that were taken from another question, on average, by what differs."""
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
        """Whether a run that was done would not have been, or might not: unknown is not done."""
        done = (one for one in self.runs if one.was == PlayEnd.DONE)
        return any(one.share(PlayEnd.DONE) < 1 or {*one.edges} - {PlayEnd.DONE} for one in done)

    def _rule(self, named: NamedRule) -> RuleChange:
        rule = self._written(named)
        before = RuleTally(*(int(self._tallied(named, part)) for part in _WHOLE))
        before.waiting = self._tallied(named, "waiting")
        return RuleChange(
            *named,
            place=None if rule is None else f"{rule.span.file}:{rule.span.line}",
            name=None if rule is None else rule.name or None,
            before=before,
            matched=self._now(named, "matched"),
            exhausted=self._now(named, "exhausted"),
            retries=self._now(named, "retries"),
            waiting=self._now(named, "waiting"),
            rescued=self._over_samples(lambda number: self._rescued(named, number)),
        )

    def _tallied(self, named: NamedRule, part: str) -> float:
        return self.before(lambda figures: getattr(figures.rule(named), part))

    def _now(self, named: NamedRule, part: str) -> Estimate:
        extra = self.extra(lambda figures: getattr(figures.rule(named), part))
        return shifted(extra, self._tallied(named, part))

    def _rescued(self, named: NamedRule, number: int) -> int:
        """The failed runs that are done in this sample, by this rule as well."""
        plays = ((one, one.in_sample(number)) for one in self.runs if one.was == PlayEnd.FAILED)
        return sum(
            play.status == PlayEnd.DONE
            and one.beyond(play, lambda figures: figures.rule(named).helped) > 0
            for one, play in plays
        )

    def _written(self, named: NamedRule) -> Rule | None:
        """The rule in the changed document; None for one that is gone."""
        step, label, number = named
        task = self.program.task_of(step, label)
        return None if task is None or number < 0 else task.policy.rules[number - 1]

    def _over_samples(self, count: Callable[[int], float]) -> Estimate:
        is_sampled = any(len(one.plays) > 1 for one in self.runs)
        return estimate(count(number) for number in range(self.samples if is_sampled else 1))

    def report(self) -> Object:
        """The JSON object of `anew whatif --json`."""
        return report_of(self)


def _reason(played: Play) -> str:
    asked = played.asked
    if asked is None:
        return played.why
    step, task = asked.key.step, asked.label
    named = step if step == task else f"{step}.{task}"
    return f"{named} attempt {asked.attempt}: {played.why}"
