"""The files of every attempt at a node: what it was asked, what it said, what that amounted to.

`nodes/<node>/v<visit>.a<attempt>/` has `inputs.json`, `prompt.md`, `response.md`, `outcome.json`.
An iteration of a loop adds `.i<index>`, a task whose label is not the node's stands in front, and a
task that a step-run comes to once more adds `.n<time>`. Files of the latest attempt lie in
`nodes/<node>/` too. Reads events only, and remembers what is live.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.moments import moment_text
from anew.engine.outcome import Outcome
from anew.program.policy import Verdict
from anew.values import Object, Value, as_text, json_text
from anew.views.context import STATUS_WORDS, status_word
from anew.views.export.changes import Change, Copy, Write, json_data, text_data
from anew.views.export.names import NodeNames
from anew.weight import RESERVED_KEY

# A larger result is a file of its own, so that outcomes and checkpoints stay readable.
RESULT_BYTES_MAX = 64 * 1024

PROMPT, RESPONSE, OUTCOME = "prompt.md", "response.md", "outcome.json"
INPUTS, STATUS = "inputs.json", "status.json"
# A key of a graph may hold dots, which the log writes with a mark: `tool\.output`.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FIDELITY_KEYS = ("fidelity", "thread")
# Where tools keep what came back, as text.
_RESPONSE_KEYS = ("text", "answer", "response", "output", "stdout")

Place = tuple[str, int | None, int | None]


class _Turn(Struct):
    """The how-manieth time a step-run is at a task; `task_visit` is the log's number for it."""

    task_visit: int
    time: int = 1
    attempt: int | None = None
    started_at: int = 0


class _Latest(Struct):
    """The attempt at a node that was started last, and its files by their names."""

    folder: str
    files: dict[str, str] = field(default_factory=dict)


class _Live(Struct):
    """A step-run that has not ended: its tasks, how its agent is talked to, its last outcome."""

    turns: dict[str, _Turn] = field(default_factory=dict)
    fidelity: Object = field(default_factory=dict)
    outcome: Object | None = None


class Attempts:
    """Turns the events of tasks into files, in the order of the log."""

    def __init__(self, names: NodeNames, dialect: str | None) -> None:
        self._names, self.dialect = names, dialect
        self._tasks = NodeNames()
        self._live: dict[Place, _Live] = {}
        self._latest: dict[str, _Latest] = {}

    def started(self, event: e.TaskStarted) -> Iterator[Change]:
        """What the attempt was asked. One that another worker takes over was written before."""
        turn = self._turn(event)
        if turn.attempt == event.attempt:
            return
        turn.attempt, turn.started_at = event.attempt, event.at
        self._latest[_node(event)] = _Latest(self._folder(event))
        given = event.inputs if isinstance(event.inputs, dict) else {}
        told = {key: given[key] for key in _FIDELITY_KEYS if key in given}
        self._live[place_of(event)].fidelity = told
        files = {}
        if event.inputs not in (None, {}):
            files[INPUTS] = json_data(event.inputs)
        prompt = _prompt(given)
        if prompt is not None:
            files[PROMPT] = text_data(prompt)
        yield from self._written(event, files)

    def processed(self, event: e.TaskProcessed) -> Iterator[Change]:
        """What came of it. The outcome is kept for the checkpoints of its visit."""
        told = self._outcome_row(event.outcome, event.verdict)
        result = msgspec.json.encode(event.outcome.result)
        if len(result) > RESULT_BYTES_MAX:
            folder = self._folder(event).removeprefix("nodes/")
            told["result"], told["result_file"] = None, f"artifacts/{folder}.json"
            yield Write(told["result_file"], json_data(event.outcome.result))
        self._live[place_of(event)].outcome = told
        files = {OUTCOME: json_data(self._whole(event, told))}
        response = _response(event.outcome.result)
        if response is not None:
            files[RESPONSE] = text_data(response)
        yield from self._written(event, files)

    def outcome(self, event: e.Fact) -> Object | None:
        """The outcome of the last task of a live step-run."""
        live = self._live.get(place_of(event))
        return None if live is None else live.outcome

    def fidelity(self, event: e.Fact) -> Object:
        """How much a live step-run's agent was told of what went before, and in which thread."""
        live = self._live.get(place_of(event))
        return {} if live is None else live.fidelity

    def ended(self, event: e.Fact) -> None:
        """Forget a step-run that is over."""
        self._live.pop(place_of(event), None)

    def latest(self) -> Iterator[Change]:
        """The newest attempt of every node, where others look for it."""
        for node, latest in self._latest.items():
            folder = f"nodes/{self._names.of(node)}"
            for name, source in latest.files.items():
                yield Copy(f"{folder}/{name}", source)
            if OUTCOME in latest.files:
                yield Copy(f"{folder}/{STATUS}", latest.files[OUTCOME])

    def _turn(self, event: e.TaskStarted) -> _Turn:
        turns = self._live.setdefault(place_of(event), _Live()).turns
        turn = turns.setdefault(event.task or "", _Turn(event.task_visit))
        if turn.task_visit != event.task_visit:
            turn.task_visit, turn.time, turn.attempt = event.task_visit, turn.time + 1, None
        return turn

    def _folder(self, event: e.Fact) -> str:
        task = event.task or ""
        turn = self._live[place_of(event)].turns[task]
        label = "" if task == event.step else f"{self._tasks.of(task)}."
        iteration = "" if event.iteration is None else f".i{event.iteration}"
        time = "" if turn.time == 1 else f".n{turn.time}"
        node = self._names.of(_node(event))
        return f"nodes/{node}/{label}v{event.visit}{iteration}{time}.a{event.attempt}"

    def _written(self, event: e.Fact, files: dict[str, bytes]) -> Iterator[Change]:
        folder = self._folder(event)
        latest = self._latest[_node(event)]
        for name, data in files.items():
            path = f"{folder}/{name}"
            yield Write(path, data)
            # Of iterations that overlap, the one that was started last is shown.
            if folder == latest.folder:
                latest.files[name] = path

    def _outcome_row(self, outcome: Outcome, verdict: Verdict | None) -> Object:
        """An outcome as checkpoints tell it, in our words and in those of graphs."""
        amounts_to = verdict or outcome.amounts_to
        return {
            "status": outcome.status.value,
            "verdict": amounts_to.value,
            "outcome": verdict_word(self.dialect, amounts_to, outcome.word),
            "preferred_label": outcome.label,
            "suggested_next_ids": outcome.suggested,
            "error": outcome.error,
            "result": outcome.result,
        }

    def _whole(self, event: e.TaskProcessed, told: Object) -> Object:
        turn = self._live[place_of(event)].turns[event.task or ""]
        place = {
            "node": event.step,
            "task": event.task,
            "visit": event.visit,
            "iteration": event.iteration,
            "attempt": event.attempt,
            "seq": event.seq,
            "started_at": moment_text(turn.started_at),
            "ended_at": moment_text(event.at),
        }
        outcome = event.outcome
        beside = {"helpers": outcome.helpers, "logs": outcome.logs}
        decided = {"directive": event.directive.value, "patches": self._patches(event.patches)}
        return {**place, **told, "context_updates": outcome.updates, **beside, **decided}

    def _patches(self, patches: Object) -> Object:
        """What was written: in a graph the context is flat, and its keys are told as they are."""
        written = patches.get("ctx")
        if self.dialect is None or not isinstance(written, dict):
            return patches
        plain = {_ESCAPED.sub(r"\1", path): value for path, value in written.items()}
        return {**patches, "ctx": plain}


def verdict_word(dialect: str | None, verdict: Verdict, word: str | None = None) -> str:
    """A verdict in the words of a graph's dialect; in ours for a playbook."""
    if dialect in STATUS_WORDS:
        return status_word(dialect, verdict, word)
    return word or verdict.value


def place_of(event: e.Fact) -> Place:
    """Names the step-run an event speaks of."""
    return _node(event), event.visit, event.iteration


def _node(event: e.Fact) -> str:
    return event.step or ""


def _prompt(given: Object) -> str | None:
    """What was said: the task, after what an agent was told of the run before it.

    An agent that has the whole conversation is not told of the run besides.
    """
    said = given.get("prompt", given.get("question"))
    if said is None:
        return None
    prompt = as_text(said)
    before = _text(given.get("preamble")) or ""
    has_conversation = given.get("history") and given.get("fidelity") in (None, "full")
    return prompt if has_conversation or not before.strip() else f"{before}\n\n{prompt}"


def _response(result: Value) -> str | None:
    said = _text(result)
    return said if said is not None else _text_in(result, _RESPONSE_KEYS)


def _text_in(value: Value, keys: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return None
    found = (_text(value.get(key)) for key in keys)
    return next((text for text in found if text is not None), None)


def _text(value: Value) -> str | None:
    """A text; one with a secret in it is written as the log has it."""
    if isinstance(value, dict) and RESERVED_KEY in value:
        return json_text(value)
    return value if isinstance(value, str) else None
