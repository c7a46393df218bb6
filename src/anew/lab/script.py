"""Read a simulation script: which outcomes the world will give, and what chance will draw.

The script plays the tools. It knows nothing of the engine; `lab.simulate` brings both together.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat

from msgspec import Struct, field

from anew.engine.moments import FIRST_MOMENT, LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import (
    Advice,
    Outcome,
    outcome_of,
    wait_seconds,
)
from anew.engine.signals import NAME_FORM, is_name
from anew.engine.state import StepRunKey
from anew.engine.verdicts import ErrorType, parse_status
from anew.errors import ConfigError
from anew.lab.plain_values import fitting
from anew.languages.document import read_yaml
from anew.languages.nodes import plain
from anew.program.findings import Severity, did_you_mean
from anew.program.kinds import HELPERS
from anew.program.policy import Verdict
from anew.values import Object, Value, as_text

# 2000-01-01T00:00:00Z
START_DEFAULT = 946_684_800 * NANOSECONDS

TAKES_SECONDS_MAX = 1e9
# What is recorded of a run with thousands of step-runs is far larger than what anybody writes.
SCENARIO_BYTES_MAX = 8 << 20

_KEYS = ("workload", "outcomes", "signals", "random", "now", "lags", "invariants", "expect")
# What a scenario says beside its script, so that one can be played like the other.
_SCENARIO_KEYS = ("document", "dialect", "description")
# What a draw gives that the script says nothing of: the middle.
CHANCE_DEFAULT = 0.5
_SIGNAL_KEYS = ("signal", "payload", "id", "at")
# The words of an agent's status file, and the ones a script has for them.
_ALIASES = {
    "preferred_label": "label",
    "preferred_next_label": "label",
    "suggested_next_ids": "suggested",
    "context_updates": "context",
}
_ENTRY_KEYS = (
    *("result", "error", "times", "takes", "late", "answer", "status", "label", "context"),
    *("suggested", "notes", "signal", *_ALIASES, *HELPERS),
)


class ScriptEntry(Struct, frozen=True):
    """One scripted outcome, for `times` executions that take `takes` nanoseconds each.

    A call's outcome is known `late` nanoseconds after that: a timeout is not noticed in no time.
    """

    said: Object
    times: int
    takes: int
    late: int = 0

    @property
    def answer(self) -> str | None:
        """What a person says: the answer, or the label of an outcome that went well."""
        said = self.said.get("answer")
        if said is None and self._error() is None:
            said = self.said.get("label")
        return None if said is None else as_text(said)

    @property
    def is_signal(self) -> bool:
        """Whether this is the signal that a task waits for, after `takes`."""
        return "signal" in self.said

    def outcome(self, now: int) -> Outcome:
        """What the tool would have answered."""
        helpers = {name: self.said[name] for name in HELPERS if name in self.said}
        error = self._error()
        nothing_said = None if error is not None else _answered(self.said)
        result = self.said.get("result", nothing_said)
        advice = self._advice()
        return outcome_of(
            result, error=error, helpers=helpers, now=now, is_verbatim=True, advice=advice
        )

    def _advice(self) -> Advice:
        status, label = self.said.get("status"), self.said.get("label", self.said.get("answer"))
        meant = parse_status(status) if isinstance(status, str) else None
        return Advice(
            verdict=meant.verdict if meant else None,
            word=meant.word if meant else None,
            label=None if label is None else as_text(label),
            suggested=self.said.get("suggested") or [],
            updates=self.said.get("context") or {},
        )

    def _error(self) -> Value:
        """The error that was said, or the one that a failing status amounts to."""
        error, status = self.said.get("error"), self.said.get("status")
        if not isinstance(status, str):
            return error
        meant = parse_status(status)
        if error is None and meant.verdict is not Verdict.FAILURE:
            return None
        if isinstance(error, str) or (error is not None and "kind" in error):
            return error
        kind = ErrorType.TRANSIENT if meant.wants_retry else ErrorType.UNKNOWN
        silent = {"kind": "tool_error", "type": kind.value, "message": f"the status is {status}"}
        return {**silent, **(error or {})}


class ScriptedSignal(Struct, frozen=True):
    """A signal that comes `after` so many nanoseconds, whether or not anyone waits for it."""

    signal: str
    payload: Value
    id: str | None
    after: int


class Script(Struct, frozen=True):
    """`outcomes` is keyed by `step#visit.task`, `step.task`, task label or step name, the first
    that is there.

    `drawn` are the random numbers that come first. `lags` has, by step-run, how long a worker takes
    to come each time one is needed. `invariants` are conditions that hold for every run there can
    be, whatever goes wrong.
    """

    outcomes: Mapping[str, tuple[ScriptEntry, ...]] = field(default_factory=dict)
    workload: Object = field(default_factory=dict)
    chance: float | None = CHANCE_DEFAULT
    seed: int | None = None
    drawn: tuple[float, ...] = ()
    now: int = START_DEFAULT
    expect: Object = field(default_factory=dict)
    signals: tuple[ScriptedSignal, ...] = ()
    lags: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()

    def draws(self, seed: int | None = None) -> Callable[[], float]:
        """Where chance comes from: the numbers given, then the same fraction or a seeded stream."""
        chosen = self.seed if seed is None else seed
        if chosen is not None:
            return random.Random(chosen).random
        fraction = CHANCE_DEFAULT if self.chance is None else self.chance
        return chain(self.drawn, repeat(fraction)).__next__

    def entries_of(self, step: str, label: str) -> Iterator[ScriptEntry]:
        """Everything that is said of a task, under whichever key."""
        plain = next((key for key in keys_of(step, label) if key in self.outcomes), None)
        for key, entries in self.outcomes.items():
            if key == plain or general_key(key) == f"{step}.{label}":
                yield from entries


class OutcomeQueue(Struct):
    """Plays the entries of one key: each as often as it says, the last one for ever.

    `place` is that of the entry played last, as the script has it.
    """

    entries: tuple[ScriptEntry, ...]
    key: str = ""
    position: int = 0
    played: int = 0
    place: str = ""

    def next(self) -> ScriptEntry:
        entry = self.entries[self.position]
        self.place = f"outcomes.{self.key}[{self.position}]"
        self.played += 1
        if self.played >= entry.times and self.position < len(self.entries) - 1:
            self.position += 1
            self.played = 0
        return entry

    @property
    def is_spent(self) -> bool:
        """Whether everything was played as often as it says; what follows is repetition."""
        is_last = self.position == len(self.entries) - 1
        return is_last and self.played >= self.entries[-1].times


SUCCESS = ScriptEntry({"result": {}}, 1, 0)
# Who answers questions in a simulation.
BY_SCRIPT = "script"


_FRACTION = re.compile(r"[.,][0-9]{6}([0-9]{1,3})", re.ASCII)
_EXACT = re.compile(r"#[1-9][0-9]*(\[[0-9]+\])?(?=\.|$)")


def keys_of(step: str, label: str) -> tuple[str, str, str]:
    """The keys a task answers to in every visit, the most exact first."""
    return f"{step}.{label}", label, step


def place_of(key: StepRunKey) -> str:
    """How a script names one step-run: `fetch#1`, and `fetch#1[3]` where it is an iteration."""
    iteration = "" if key.iteration is None else f"[{key.iteration}]"
    return f"{key.step}#{key.visit}{iteration}"


def exact_key(key: StepRunKey, label: str) -> str:
    """The key of a task in one step-run only."""
    return f"{place_of(key)}.{label}"


def general_key(key: str) -> str:
    """The key of the same task in any step-run."""
    return _EXACT.sub("", key, count=1)


def read_script(text: str | bytes, file: str) -> Script:
    """The script in a YAML or JSON text; ConfigError says what is wrong and where."""
    return script_of(read_value(text, file), file)


def read_value(text: str | bytes, file: str) -> Value:
    """The plain value in a YAML or JSON text."""
    node, findings = read_yaml(text, file, bytes_max=SCENARIO_BYTES_MAX)
    for finding in findings:
        if finding.severity is Severity.ERROR:
            raise ConfigError(f"{finding.place}: {finding.message}")
    return plain(node) if node is not None else {}


def script_of(said: Value, file: str = "script") -> Script:
    """The script a plain value describes."""
    if said is None:
        said = {}
    if not isinstance(said, dict):
        raise ConfigError(f"{file}: a script is a mapping with {', '.join(_KEYS)}")
    _known(said, (*_KEYS, *_SCENARIO_KEYS), file)
    fitting(said, file)
    chance = _chance(said.get("random", CHANCE_DEFAULT), file)
    return Script(
        outcomes=_outcomes(said.get("outcomes"), file),
        workload=_mapping(said.get("workload"), f"{file}: workload"),
        chance=chance.fraction,
        seed=chance.seed,
        drawn=chance.drawn,
        now=_moment(said.get("now"), file),
        expect=_mapping(said.get("expect"), f"{file}: expect"),
        signals=_signals(said.get("signals") or [], f"{file}: signals"),
        lags=_lags(said.get("lags"), f"{file}: lags"),
        invariants=_invariants(said.get("invariants") or [], f"{file}: invariants"),
    )


def _answered(said: Object) -> Value:
    if "answer" not in said:
        return {"notes": said["notes"]} if "notes" in said else {}
    return {"answer": said["answer"], "label": said.get("label", said["answer"]), "by": BY_SCRIPT}


def _known(said: Object, keys: tuple[str, ...], where: str) -> None:
    for key in said:
        if key not in keys:
            hint = did_you_mean(str(key), keys) or f"Known: {', '.join(keys)}."
            raise ConfigError(f"{where}: unknown key {key!r}. {hint}")


def _mapping(value: Value, where: str) -> Object:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be a mapping, not {value!r}")
    return value


def _outcomes(said: Value, file: str) -> dict[str, tuple[ScriptEntry, ...]]:
    listed = _mapping(said, f"{file}: outcomes")
    return {key: _entries(entries, f"{file}: outcomes.{key}") for key, entries in listed.items()}


def _signals(said: Value, where: str) -> tuple[ScriptedSignal, ...]:
    if not isinstance(said, list):
        raise ConfigError(f"{where} must be a list of {{signal, payload, id, at}}, not {said!r}")
    return tuple(_sent(one, f"{where}[{number}]") for number, one in enumerate(said))


def _sent(said: Value, where: str) -> ScriptedSignal:
    sent = _mapping(said, where)
    _known(sent, _SIGNAL_KEYS, where)
    name, id_ = sent.get("signal"), sent.get("id")
    if not isinstance(name, str) or not is_name(name):
        raise ConfigError(f"{where}: signal must be a name ({NAME_FORM}), not {name!r}")
    if id_ is not None and not isinstance(id_, str):
        raise ConfigError(f"{where}: id must be a text, not {id_!r}")
    return ScriptedSignal(
        name, sent.get("payload"), id_, _nanoseconds(sent.get("at", 0), where, key="at")
    )


def _entries(said: Value, where: str) -> tuple[ScriptEntry, ...]:
    listed = said if isinstance(said, list) else [said]
    if not listed:
        raise ConfigError(f"{where} is empty; give at least one outcome, or leave the key out")
    return tuple(_entry(entry, f"{where}[{n}]") for n, entry in enumerate(listed))


def _entry(said: Value, where: str) -> ScriptEntry:
    entry = _mapping(said, where)
    _known(entry, _ENTRY_KEYS, where)
    entry = {_ALIASES.get(key, key): value for key, value in entry.items()}
    times = entry.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise ConfigError(f"{where}: times must be a whole number of at least 1, not {times!r}")
    error = entry.get("error")
    if error is not None and not isinstance(error, (dict, str)):
        raise ConfigError(f"{where}: error must be a mapping with kind and message, not {error!r}")
    named = error if isinstance(error, dict) else {}
    for key in ("kind", "type"):
        if not isinstance(named.get(key, ""), str):
            raise ConfigError(f"{where}: error.{key} must be a word, not {named[key]!r}")
    _check_advice(entry, where)
    takes = _nanoseconds(entry.get("takes", 0), where)
    return ScriptEntry(entry, times, takes, _nanoseconds(entry.get("late", 0), where, key="late"))


def _check_advice(entry: Object, where: str) -> None:
    status, suggested = entry.get("status", ""), entry.get("suggested") or []
    if not isinstance(status, str):
        raise ConfigError(f"{where}: status must be a word like SUCCESS, not {status!r}")
    if not isinstance(suggested, list) or not all(isinstance(one, str) for one in suggested):
        raise ConfigError(f"{where}: suggested must be a list of step names, not {suggested!r}")
    if isinstance(entry.get("label"), (dict, list)):
        raise ConfigError(f"{where}: label must be a text, not {entry['label']!r}")
    if isinstance(entry.get("answer"), (dict, list)):
        raise ConfigError(f"{where}: answer must be a text, not {entry['answer']!r}")
    _mapping(entry.get("context"), f"{where}: context")


def _nanoseconds(takes: Value, where: str, *, key: str = "takes") -> int:
    seconds = wait_seconds(takes, 0)
    if seconds is None or not 0 <= seconds < TAKES_SECONDS_MAX:
        raise ConfigError(f"{where}: {key} must be a number of seconds, not {takes!r}")
    return round(seconds * NANOSECONDS)


class _Chance(Struct, frozen=True):
    fraction: float | None = None
    seed: int | None = None
    drawn: tuple[float, ...] = ()


def _chance(said: Value, file: str) -> _Chance:
    if _is_fraction(said):
        return _Chance(fraction=float(said))
    if not isinstance(said, dict):
        forms = "a fraction from 0 to 1, {seed: N} or {draws: [fractions]}"
        raise ConfigError(f"{file}: random must be {forms}, not {said!r}")
    _known(said, ("seed", "draws"), f"{file}: random")
    seed, drawn = said.get("seed"), said.get("draws")
    if drawn is None:
        if isinstance(seed, int) and not isinstance(seed, bool):
            return _Chance(seed=seed)
        raise ConfigError(f"{file}: random.seed must be a whole number, not {seed!r}")
    if not isinstance(drawn, list) or not all(_is_fraction(one) for one in drawn):
        raise ConfigError(f"{file}: random.draws must be a list of fractions from 0 to 1")
    if seed is not None:
        raise ConfigError(f"{file}: random has a seed or draws, not both")
    return _Chance(CHANCE_DEFAULT, drawn=tuple(float(one) for one in drawn))


def _is_fraction(said: Value) -> bool:
    return isinstance(said, (int, float)) and not isinstance(said, bool) and 0 <= said <= 1


def _lags(said: Value, where: str) -> dict[str, tuple[int, ...]]:
    listed = _mapping(said, where)
    found = {}
    for place, lags in listed.items():
        if not isinstance(lags, list):
            raise ConfigError(f"{where}.{place} must be a list of seconds, not {lags!r}")
        found[place] = tuple(_nanoseconds(lag, f"{where}.{place}", key="each") for lag in lags)
    return found


def _invariants(said: Value, where: str) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise ConfigError(f"{where} must be a list of conditions, not {said!r}")
    return tuple(said)


def _moment(said: Value, file: str) -> int:
    if said is None:
        return START_DEFAULT
    try:
        moment = datetime.fromisoformat(str(said))
    except ValueError:
        hint = "write it like 2000-01-01T00:00:00Z"
        raise ConfigError(
            f"{file}: now is {said!r}, which is not an ISO 8601 time; {hint}"
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    at = (since // timedelta(microseconds=1)) * 1000 + _nanoseconds_past(str(said))
    if not FIRST_MOMENT <= at <= LAST_MOMENT:
        raise ConfigError(f"{file}: now is {said!r}; it must be between 1678 and 2261")
    return at


def _nanoseconds_past(moment: str) -> int:
    """The digits after the microseconds, which Python's moments do not keep."""
    found = _FRACTION.search(moment)
    return int(found.group(1).ljust(3, "0")) if found else 0
