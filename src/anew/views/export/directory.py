"""The whole directory of a run, event by event: which files, and what is in them.

    pipeline.dot or playbook.yaml   the document, as it was run
    events.jsonl                    the log, as `anew events --json` prints it
    node-events.jsonl               the same in the words of graphs
    checkpoints/NNN_<node>.json     after each node, before each retry, at the end
    checkpoint.json                 the newest of them, with its whole context and history
    nodes/<node>/                   prompt, response and outcome of every attempt
    artifacts/                      results too large for an outcome
    status.json, manifest.json      how the run stands; what this is an export of
    damaged.jsonl                   of a damaged run only: the rest of its log, as it lies there

Holds the fold of the log and what is live, so a long log needs no more memory than the run itself.
Knows no disk and no store.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256

from msgspec import Struct

from anew.engine import events as e
from anew.engine.fold import evolve
from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.signals import pending as pending_signals
from anew.engine.state import RunState
from anew.program.program import Program
from anew.store import RunRow, StoredProgram
from anew.values import Object
from anew.views.context import GRAPHS
from anew.views.export.attempts import Attempts
from anew.views.export.changes import Append, Change, Write, json_data, line_data, text_data
from anew.views.export.checkpoints import Checkpoints
from anew.views.export.names import NodeNames
from anew.views.nodes import NodeWords

# Says of a directory that it is an export, and how to read it.
FORMAT = "anew-export-1"
MANIFEST, STATUS = "manifest.json", "status.json"
EVENTS, NODE_EVENTS = "events.jsonl", "node-events.jsonl"
DAMAGED = "damaged.jsonl"

_DOT_SUFFIXES = frozenset({".dot", ".gv"})
_GOAL_KEY = "graph.goal"


class Subject(Struct, frozen=True):
    """What is exported. The document may be gone, or may not compile with this version."""

    row: RunRow
    document: StoredProgram | None = None
    program: Program | None = None


class RunDirectory:
    """Give it the events in their order; each call yields what is to be written next."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        names = NodeNames()
        program = subject.program
        is_graph = program is not None and program.language == GRAPHS
        self._attempts = Attempts(names, program.dialect if program and is_graph else None)
        self._node_words = NodeWords()
        self._about = {"run_id": str(subject.row.run), "pipeline_name": subject.row.program}
        self._checkpoints = Checkpoints(names, self._attempts, about=self._about, program=program)
        self._requested: e.RunRequested | None = None
        self._unsatisfied: list[str] = []
        self._ended_at: int | None = None
        self._began_at = self._last_at = subject.row.created_at
        self._retries = 0
        self._damage: Object | None = None
        self.state = RunState()

    @property
    def checkpoints(self) -> int:
        return self._checkpoints.count

    def begin(self) -> Iterator[Change]:
        """The document."""
        document = self._subject.document
        if document is not None:
            yield Write(document_name(self._subject), text_data(document.source))
        yield Append(EVENTS, b"")
        yield Append(NODE_EVENTS, b"")

    def feed(self, event: e.Event) -> Iterator[Change]:
        """One event: its line, its files, the checkpoint it completes."""
        self._note(event)
        self._checkpoints.before(self.state, event)
        evolve(self.state, event)
        yield Append(EVENTS, line_data(e.to_row(event)))
        for row in self._node_words.rows([event]):
            yield Append(NODE_EVENTS, line_data(row))
        match event:
            case e.TaskStarted():
                yield from self._attempts.started(event)
            case e.TaskProcessed():
                yield from self._attempts.processed(event)
            case _:
                pass
        yield from self._checkpoints.after(self.state, event)
        if isinstance(event, _ENDS):
            self._attempts.ended(event)

    def leave(self, damage: Object, rest: Iterable[Object]) -> Iterator[Change]:
        """The log is damaged here; of the rest only the rows can be had."""
        self._damage = damage
        yield Append(DAMAGED, b"")
        for row in rest:
            yield Append(DAMAGED, line_data(row))

    def finish(self, now: int | None = None) -> Iterator[Change]:
        """What can be told once the log is read; a run that has not ended lasts until `now`."""
        if now is not None and self._ended_at is None:
            self._last_at = max(self._last_at, now)
        yield from self._checkpoints.finish()
        yield from self._attempts.latest()
        yield Write(STATUS, json_data(self._status()))
        yield Write(MANIFEST, json_data(self._manifest()))

    def _note(self, event: e.Event) -> None:
        self._last_at = event.at
        match event:
            case e.RunRequested():
                self._requested, self._began_at = event, event.at
            case e.TaskRetryScheduled():
                self._retries += 1
            case e.RunFailed():
                self._unsatisfied, self._ended_at = event.unsatisfied, event.at
            case e.RunDone() | e.RunCancelled():
                self._ended_at = event.at
            case _:
                pass

    def _status(self) -> Object:
        state = self.state
        damage = {} if self._damage is None else {"damage": self._damage}
        return {
            **self._about,
            **damage,
            "status": state.status.value,
            "started_at": moment_text(self._began_at),
            "ended_at": None if self._ended_at is None else moment_text(self._ended_at),
            "seconds": (self._last_at - self._began_at) / NANOSECONDS,
            "current_nodes": sorted({step for step, _ in state.active}),
            "waiting_for": _questions(state) + _signals(state),
            "error": state.failure,
            "unsatisfied_gates": self._unsatisfied,
            "result": state.last_result,
            "visits": state.visits,
            "retries": self._retries,
            "checkpoints": self.checkpoints,
        }

    def _manifest(self) -> Object:
        row, document, program = self._subject.row, self._subject.document, self._subject.program
        requested = self._requested
        text = None if document is None else document.source.encode("utf-8", "surrogatepass")
        goal = self.state.workload.get(_GOAL_KEY)
        return {
            "format": FORMAT,
            **self._about,
            "version": self.state.version,
            "goal": goal,
            "language": None if program is None else program.language,
            "dialect": None if requested is None else requested.dialect,
            "digest": row.digest,
            "document": None if document is None else document_name(self._subject),
            "document_sha256": None if text is None else sha256(text).hexdigest(),
            "file": None if requested is None else requested.file,
            "started_at": moment_text(self._began_at),
            "labels": dict(row.labels),
            "parent_run_id": None if row.parent is None else str(row.parent.run),
            "continues": None if requested is None else requested.continues,
        }


def document_name(subject: Subject) -> str:
    """What the document is called in the export, by its language."""
    file = subject.document.file if subject.document is not None else ""
    suffix = os.path.splitext(file)[1].lower()
    is_dot = suffix in _DOT_SUFFIXES
    if subject.program is not None:
        is_dot = subject.program.language == GRAPHS
    if is_dot:
        return "pipeline.dot"
    return "playbook.json" if suffix == ".json" else "playbook.yaml"


_ENDS = (e.StepDone, e.StepFailed, e.StepSkipped, e.LoopIterationDone, e.LoopIterationFailed)


def _signals(state: RunState) -> list[Object]:
    return [
        {
            "node": one.key.step,
            "signal": one.signal,
            "deadline": None if one.deadline is None else moment_text(one.deadline),
        }
        for one in pending_signals(state)
    ]


def _questions(state: RunState) -> list[Object]:
    return [
        {
            "node": run.key.step,
            "question": run.question.text,
            "choices": run.question.choices,
            "deadline": None
            if run.question.deadline is None
            else moment_text(run.question.deadline),
        }
        for run in state.live_step_runs()
        if run.question is not None
    ]
