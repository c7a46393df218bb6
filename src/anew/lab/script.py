"""Read a simulation script: which outcomes the world will give, and what chance will draw.

The script plays the tools. It knows nothing of the engine; `lab.simulate` brings both together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from msgspec import Struct, field

from anew.engine.moments import FIRST_MOMENT, LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import (
    HELPERS,
    RETRYABLE,
    Outcome,
    http_error_kind,
    outcome_of,
    wait_seconds,
)
from anew.errors import ConfigError
from anew.languages.document import read_yaml
from anew.languages.nodes import plain
from anew.program.findings import Severity, did_you_mean
from anew.program.program import Program
from anew.values import Object, Value
from anew.weight import problem_of

# 2000-01-01T00:00:00Z
START_DEFAULT = 946_684_800 * NANOSECONDS

TAKES_SECONDS_MAX = 1e9
OK_STATUSES = range(200, 300)

# The words of DOT graphs for an outcome that failed.
FAILING = ("FAILURE", "FAIL", "fail")

_KEYS = ("workload", "outcomes", "random", "now", "expect")
_ENTRY_KEYS = (
    *("result", "error", "times", "takes", "answer", "status", "label", "context", "suggested"),
    *HELPERS,
)


class Entry(Struct, frozen=True):
    """One scripted outcome, for `times` executions that take `takes` nanoseconds each."""

    said: Object
    times: int
    takes: int

    def outcome(self, now: int) -> Outcome:
        """What the tool would have answered."""
        helpers = {name: self.said[name] for name in HELPERS if name in self.said}
        error = self.said.get("error")
        if error is None and self.said.get("status") in FAILING:
            error = {"kind": "tool_error", "message": f"the status is {self.said['status']}"}
        nothing_said = None if error is not None else _answered(self.said)
        result = self.said.get("result", nothing_said)
        return outcome_of(result, error=error, helpers=helpers, now=now)


class Script(Struct, frozen=True):
    """`outcomes` is keyed by `step.task`, task label or step name, in that precedence."""

    outcomes: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    workload: Object = field(default_factory=dict)
    chance: float | None = 0.5
    seed: int | None = None
    now: int = START_DEFAULT
    expect: Object = field(default_factory=dict)

    def draws(self, seed: int | None = None) -> Callable[[], float]:
        """Where chance comes from: always the same fraction, or a seeded stream."""
        chosen = self.seed if seed is None else seed
        if chosen is None:
            fraction = 0.5 if self.chance is None else self.chance
            return lambda: fraction
        return random.Random(chosen).random


class Tape(Struct):
    """Plays the entries of one key: each as often as it says, the last one for ever."""

    entries: tuple[Entry, ...]
    position: int = 0
    played: int = 0

    def next(self) -> Entry:
        entry = self.entries[self.position]
        self.played += 1
        if self.played >= entry.times and self.position < len(self.entries) - 1:
            self.position += 1
            self.played = 0
        return entry


SUCCESS = Entry({"result": {}}, 1, 0)


def read_script(text: str | bytes, file: str) -> Script:
    """The script in a YAML or JSON text; ConfigError says what is wrong and where."""
    node, findings = read_yaml(text, file)
    for finding in findings:
        if finding.severity is Severity.ERROR:
            raise ConfigError(f"{finding.place}: {finding.message}")
    return script_of(plain(node) if node is not None else {}, file)


def script_of(said: Value, file: str = "script") -> Script:
    """The script a plain value describes."""
    if said is None:
        said = {}
    if not isinstance(said, dict):
        raise ConfigError(f"{file}: a script is a mapping with {', '.join(_KEYS)}")
    _known(said, _KEYS, file)
    problem = problem_of(said)
    if problem is not None:
        raise ConfigError(f"{file}: a value of the script {problem}")
    chance, seed = _chance(said.get("random", 0.5), file)
    return Script(
        outcomes=_outcomes(said.get("outcomes"), file),
        workload=_mapping(said.get("workload"), f"{file}: workload"),
        chance=chance,
        seed=seed,
        now=_moment(said.get("now"), file),
        expect=_mapping(said.get("expect"), f"{file}: expect"),
    )


def doubts(script: Script, program: Program) -> Iterator[str]:
    """A sentence for everything in `outcomes` that probably means something else."""
    steps = program.steps.values()
    known = {name for step in steps for name in (step.name, *step.index_of)}
    known |= {f"{step.name}.{label}" for step in steps for label in step.index_of}
    for key, entries in script.outcomes.items():
        if key not in known:
            yield f"outcomes.{key} names no task or step. {did_you_mean(key, known) or ''}".rstrip()
        for number, entry in enumerate(entries):
            doubt = _doubt(entry.said)
            if doubt is not None:
                yield f"outcomes.{key}[{number}] {doubt}"


def _doubt(said: Object) -> str | None:
    error, http = said.get("error"), said.get("http")
    status = http.get("status") if isinstance(http, dict) else None
    if error is None and isinstance(status, int) and status not in OK_STATUSES:
        meant = http_error_kind(status)
        return f"counts as ok, whatever its http.status; add `error: {{kind: {meant}}}`."
    kind = error.get("kind") if isinstance(error, dict) else None
    near = did_you_mean(kind, RETRYABLE) if kind is not None and kind not in RETRYABLE else None
    return f"has an error of the unknown kind {kind!r}. {near}" if near else None


def _answered(said: Object) -> Value:
    if "answer" not in said:
        return {}
    return {"answer": said["answer"], "label": said.get("label", said["answer"]), "by": "script"}


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


def _outcomes(said: Value, file: str) -> dict[str, tuple[Entry, ...]]:
    listed = _mapping(said, f"{file}: outcomes")
    return {key: _entries(entries, f"{file}: outcomes.{key}") for key, entries in listed.items()}


def _entries(said: Value, where: str) -> tuple[Entry, ...]:
    listed = said if isinstance(said, list) else [said]
    if not listed:
        raise ConfigError(f"{where} is empty; give at least one outcome, or leave the key out")
    return tuple(_entry(entry, f"{where}[{n}]") for n, entry in enumerate(listed))


def _entry(said: Value, where: str) -> Entry:
    entry = _mapping(said, where)
    _known(entry, _ENTRY_KEYS, where)
    times = entry.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise ConfigError(f"{where}: times must be a whole number of at least 1, not {times!r}")
    error = entry.get("error")
    if error is not None and not isinstance(error, (dict, str)):
        raise ConfigError(f"{where}: error must be a mapping with kind and message, not {error!r}")
    if isinstance(error, dict) and not isinstance(error.get("kind", ""), str):
        raise ConfigError(f"{where}: error.kind must be a word, not {error['kind']!r}")
    return Entry(entry, times, _nanoseconds(entry.get("takes", 0), where))


def _nanoseconds(takes: Value, where: str) -> int:
    seconds = wait_seconds(takes, 0)
    if seconds is None or not 0 <= seconds < TAKES_SECONDS_MAX:
        raise ConfigError(f"{where}: takes must be a number of seconds, not {takes!r}")
    return round(seconds * NANOSECONDS)


def _chance(said: Value, file: str) -> tuple[float | None, int | None]:
    if isinstance(said, dict):
        seed = said.get("seed")
        if isinstance(seed, int) and not isinstance(seed, bool):
            return None, seed
        raise ConfigError(f"{file}: random.seed must be a whole number, not {seed!r}")
    if isinstance(said, (int, float)) and not isinstance(said, bool) and 0 <= said <= 1:
        return float(said), None
    raise ConfigError(f"{file}: random must be a fraction from 0 to 1 or {{seed: N}}, not {said!r}")


def _moment(said: Value, file: str) -> int:
    if said is None:
        return START_DEFAULT
    try:
        moment = datetime.fromisoformat(str(said))
    except ValueError:
        hint = "write it like 2000-01-01T00:00:00Z"
        raise ConfigError(f"{file}: now is {said!r}, which is no ISO 8601 moment; {hint}") from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    at = (since // timedelta(microseconds=1)) * 1000
    if not FIRST_MOMENT <= at <= LAST_MOMENT:
        raise ConfigError(f"{file}: now is {said!r}; it must lie between 1678 and 2261")
    return at
