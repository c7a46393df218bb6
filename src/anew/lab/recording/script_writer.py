"""Write what the world gave a run as a script: which key, which entries, how exact the times.

The value is that of a `simulate` script. Decides nothing about whether it is true to the run: that
is `lab.recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import StrEnum

from msgspec import Struct

from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.state import StepRunKey
from anew.lab.recording.material import Material, RecordedOutcome
from anew.lab.recording.truncation import shortened
from anew.lab.script import START_DEFAULT, ScriptedSignal, exact_key, keys_of
from anew.program.program import Program
from anew.values import Object, Value

_MILLISECOND = 1_000_000
# How long an entry lasts; a script says it last.
_LASTS = ("takes", "late")


class Timing(StrEnum):
    """How exact times are. With exact ones workers come as late as they really did.

    `ordered` are exact ones in which no two things happen in one instant.
    """

    ROUNDED = "rounded"
    EXACT = "exact"
    ORDERED = "ordered"


class Part(Struct, frozen=True):
    """Something of a script that may be cut: the workload, one outcome, one signal."""

    kind: str
    index: int
    name: str


class ScriptWriter(Struct, frozen=True):
    """One way to write a script: how exact, and which parts stay whole (None: all of them)."""

    timing: Timing
    whole: Collection[Part] | None = None

    def is_whole(self, part: Part) -> bool:
        return self.whole is None or part in self.whole


def parts_of(material: Material) -> Iterator[tuple[Part, Value]]:
    """Everything that may be cut, with its value."""
    yield _WORKLOAD, material.workload
    for index, told in enumerate(material.told):
        yield _outcome_part(index, told), told.said
    for index, sent in enumerate(material.signals):
        yield _signal_part(index, sent), sent.payload


_WORKLOAD = Part("workload", 0, "workload")


def _outcome_part(index: int, told: RecordedOutcome) -> Part:
    return Part("outcome", index, exact_key(told.key, told.label))


def _signal_part(index: int, sent: ScriptedSignal) -> Part:
    return Part("signal", index, f"signals.{sent.signal}")


def ignored(_: str) -> None:
    """What nobody wants to be told of."""


def scripted(
    program: Program,
    material: Material,
    scripting: ScriptWriter,
    note: Callable[[str], None] = ignored,
) -> Object:
    """The script, without what it need not say. `note` is told of everything that is cut."""

    def cut(part: Part, value: Value) -> Value:
        if scripting.is_whole(part):
            return value
        return shortened(value, note, part.name)

    is_exact = scripting.timing is not Timing.ROUNDED
    said: Object = {
        "now": _moment(material.start, is_exact=is_exact),
        "workload": cut(_WORKLOAD, material.workload),
        "random": {"draws": material.draws} if material.draws else None,
        "outcomes": _outcomes(program, material, cut, is_exact=is_exact),
        "signals": [
            _sent(sent, cut(_signal_part(n, sent), sent.payload), is_exact=is_exact)
            for n, sent in enumerate(material.signals)
        ],
        "lags": _lags(material) if is_exact else None,
    }
    return {key: value for key, value in said.items() if value}


def _moment(at: int, *, is_exact: bool) -> str | None:
    if at == START_DEFAULT:
        return None
    kept = at if is_exact else at - at % _MILLISECOND
    seconds, rest = divmod(kept, NANOSECONDS)
    whole = moment_text(seconds * NANOSECONDS).partition(".")[0]
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{whole}{fraction}Z"


def _sent(sent: ScriptedSignal, payload: Value, *, is_exact: bool) -> Object:
    said = {"signal": sent.signal, "payload": payload, "id": sent.id}
    at = _seconds(sent.after, is_exact=is_exact)
    return {key: value for key, value in {**said, "at": at}.items() if value is not None}


def _lags(material: Material) -> Object:
    found: Object = {}
    for place, lags in material.lags.items():
        kept = list(lags)
        while kept and not kept[-1]:
            kept.pop()
        if kept:
            found[place] = [_seconds(lag, is_exact=True) for lag in kept]
    return found


def _seconds(nanoseconds: int, *, is_exact: bool) -> float | int:
    kept = nanoseconds if is_exact else round(nanoseconds / _MILLISECOND) * _MILLISECOND
    return kept // NANOSECONDS if kept % NANOSECONDS == 0 else kept / NANOSECONDS


def _outcomes(
    program: Program, material: Material, cut: Callable[[Part, Value], Value], *, is_exact: bool
) -> Object:
    """By task in the order they first ran: one key for all its step-runs, or one for each."""
    tasks: dict[tuple[str, str], dict[tuple[int, StepRunKey], list[RecordedOutcome]]] = {}
    for index, told in enumerate(material.told):
        part = _outcome_part(index, told)
        kept = RecordedOutcome(
            told.run,
            told.key,
            told.label,
            _entry(told, cut(part, told.said), is_exact=is_exact),
            told.takes,
            is_silent=told.is_silent,
        )
        step_runs = tasks.setdefault((told.key.step, told.label), {})
        step_runs.setdefault((told.run, told.key), []).append(kept)
    found: Object = {}
    for (step, label), step_runs in tasks.items():
        found.update(_keyed(program, step, label, list(step_runs.values())))
    return found


def _keyed(
    program: Program, step: str, label: str, step_runs: list[list[RecordedOutcome]]
) -> Object:
    first = step_runs[0]
    are_same = all(len(one) == 1 and one[0].said == first[0].said for one in step_runs)
    if len(step_runs) == 1 or (are_same and not first[0].is_silent):
        entries = [told for told in first if not _are_silent(first)]
        return {_short_key(program, step, label): _merged(entries)} if entries else {}
    exact: dict[str, list[RecordedOutcome]] = {}
    for one in sorted(step_runs, key=_in_order):
        exact.setdefault(exact_key(one[0].key, label), []).extend(one)
    return {key: _merged(told) for key, told in exact.items() if not _are_silent(told)}


def _in_order(told: list[RecordedOutcome]) -> tuple[int, int, int]:
    """By run, visit and iteration."""
    key = told[0].key
    return told[0].run, key.visit, -1 if key.iteration is None else key.iteration


def _are_silent(told: list[RecordedOutcome]) -> bool:
    """Whether nothing ever came: then there is nothing to say."""
    return all(one.is_silent for one in told)


def _short_key(program: Program, step: str, label: str) -> str:
    """The shortest key that means this task and no other."""
    pairs = [(s.name, task.label) for s in program.steps.values() for task in s.tasks]
    for key in (label, step):
        if [pair for pair in pairs if key in keys_of(*pair)] == [(step, label)]:
            return key
    return f"{step}.{label}"


def _entry(told: RecordedOutcome, said: Object, *, is_exact: bool) -> Object:
    """Between the tool's answer and the log some time passes that is not the author's limit."""
    takes = told.takes
    if told.limit is not None and (is_exact or not _is_timeout(told.said)):
        takes = min(takes, told.limit)
    late = told.takes - takes if is_exact else 0
    times = {
        "takes": _seconds(takes, is_exact=is_exact),
        "late": _seconds(late, is_exact=is_exact),
    }
    return {**(said or {"result": {}}), **{key: value for key, value in times.items() if value}}


def _is_timeout(said: Object) -> bool:
    error = said.get("error")
    return isinstance(error, dict) and error.get("kind") == "timeout"


def _merged(told: list[RecordedOutcome]) -> list[Object]:
    """Equal entries that follow each other are said once."""
    entries: list[Object] = []
    counts: list[int] = []
    for one in told:
        if entries and entries[-1] == one.said:
            counts[-1] += 1
        else:
            entries.append(one.said)
            counts.append(1)
    return [
        entry if times == 1 else _timed(entry, times)
        for entry, times in zip(entries, counts, strict=True)
    ]


def _timed(entry: Object, times: int) -> Object:
    lasts = {key: entry[key] for key in _LASTS if key in entry}
    rest = {key: value for key, value in entry.items() if key not in _LASTS}
    return {**rest, "times": times, **lasts}
