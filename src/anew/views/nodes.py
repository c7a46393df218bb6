"""The log in the words of DOT graphs: pipelines, nodes, edges, checkpoints, branches, people.

A view, in the order of the log. Every row has `type`, `run_id`, `timestamp`, `node_id` and `data`;
`data.alias` is the other dialect's name for it. Events that graphs have no word for are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.events.words import FailureEffect
from anew.engine.moments import moment_text
from anew.program.policy import Verdict
from anew.values import Object
from anew.views.context import STATUS_WORDS, status_word

ALIASES = {
    "pipeline.started": "PipelineStarted",
    "pipeline.completed": "PipelineCompleted",
    "pipeline.failed": "PipelineFailed",
    "pipeline.resumed": "PipelineResumed",
    "node.started": "StageStarted",
    "node.completed": "StageCompleted",
    "node.retrying": "StageRetrying",
    "edge.selected": "EdgeSelected",
    "checkpoint.created": "CheckpointSaved",
    "parallel.fork": "ParallelStarted",
    "parallel.branch_completed": "ParallelBranchCompleted",
    "parallel.join": "ParallelCompleted",
    "human.waiting": "InterviewStarted",
    "human.responded": "InterviewCompleted",
    "human.timeout": "InterviewTimeout",
}
_STAGE_FAILED = "StageFailed"
_DIALECT_DEFAULT = "docs"

# A type, and its data.
_Row = tuple[str, Object]


class _Visit(Struct):
    """What the end of a visit has to tell."""

    branch: int | None = None
    attempt: int | None = None
    word: str | None = None
    label: str | None = None


class _Branch(Struct, frozen=True):
    name: str
    join: str | None


class NodeWords(Struct):
    """Turns events, in their order, into rows. Keeps what is live and nothing else."""

    run: str = ""
    dialect: str = _DIALECT_DEFAULT
    checkpoints: int = 0
    _visits: dict[tuple[str | None, int | None], _Visit] = field(default_factory=dict)
    _branches: dict[int, _Branch] = field(default_factory=dict)
    _forks: dict[int, list[int]] = field(default_factory=dict)
    _status: str | None = None  # of the node that ended last

    def rows(self, events: Iterable[e.Event]) -> list[Object]:
        """The rows of the next events of the log."""
        return [self._row(event, *told) for event in events for told in self._rows(event)]

    def _row(self, event: e.Event, name: str, data: Object) -> Object:
        return {
            "type": name,
            "run_id": self.run,
            "timestamp": moment_text(event.at),
            "node_id": event.step,
            "seq": event.seq,
            "data": {"alias": ALIASES[name], **data},
        }

    def _rows(self, event: e.Event) -> Iterator[_Row]:
        match event:
            case e.StepScheduled():
                self._visits[event.step, event.visit] = _Visit(event.branch)
            case e.TaskStarted():
                self._visit(event).attempt = event.attempt
                yield "node.started", {"visit": event.visit, "attempt": event.attempt}
            case e.TaskProcessed():
                visit = self._visit(event)
                visit.word, visit.label = event.outcome.word, event.outcome.label
            case e.TaskRetryScheduled():
                yield self._checkpoint("retry")
                yield "node.retrying", _retrying(event)
            case e.StepDone() | e.StepFailed():
                yield from self._completed(event)
            case e.StepSkipped() if event.visit is not None:
                self._visits.pop((event.step, event.visit), None)
            case e.NextEvaluated():
                yield from self._selected(event)
            case e.BranchForked() if event.fork is not None:
                yield from self._forked(event, event.fork)
            case e.BranchJoined() if event.fork is not None:
                yield "parallel.join", self._joined(event, event.fork)
            case _:
                yield from self._rows_of_others(event)

    def _rows_of_others(self, event: e.Event) -> Iterator[_Row]:
        match event:
            case e.RunRequested():
                self.run = event.run
                if event.dialect in STATUS_WORDS:
                    self.dialect = event.dialect
                yield "pipeline.started", _started(event)
            case e.RunResumed():
                yield "pipeline.resumed", {}
            case e.RunDone():
                yield "pipeline.completed", {"result": event.result}
            case e.RunFailed():
                gates = event.unsatisfied
                yield "pipeline.failed", {"error": event.error, "unsatisfied": gates}
            case e.RunCancelled():
                yield "pipeline.failed", {"cancelled": True, "reason": event.reason}
            case e.HumanWaiting():
                yield "human.waiting", _question(event)
            case e.HumanAnswered():
                yield (
                    "human.responded",
                    {"answer": event.answer, "label": event.label, "by": event.by},
                )
            case e.HumanTimedOut():
                yield "human.timeout", {"action": event.action, "label": event.label}
            case _:
                pass

    def _visit(self, event: e.Event) -> _Visit:
        return self._visits.setdefault((event.step, event.visit), _Visit())

    def _checkpoint(self, reason: str) -> _Row:
        self.checkpoints += 1
        return "checkpoint.created", {"number": self.checkpoints, "reason": reason}

    def _completed(self, event: e.StepDone | e.StepFailed) -> Iterator[_Row]:
        """A checkpoint is there before anybody hears that the node has ended."""
        visit = self._visits.pop((event.step, event.visit), _Visit())
        yield self._checkpoint("completed")
        if isinstance(event, e.StepDone):
            verdict = event.verdict or Verdict.SUCCESS
            data: Object = {"status": status_word(self.dialect, verdict, visit.word)}
        else:
            status = status_word(self.dialect, Verdict.FAILURE)
            data = {"alias": _STAGE_FAILED, "status": status, "error": event.error}
            data["handled"] = event.handled
        data |= {"visit": event.visit, "attempt": visit.attempt, "preferred_label": visit.label}
        self._status = data["status"]
        yield "node.completed", data
        if isinstance(event, e.StepFailed) and event.failure_mode is FailureEffect.BRANCH:
            yield from self._branch_ended(visit.branch)

    def _selected(self, event: e.NextEvaluated) -> Iterator[_Row]:
        for token in event.tokens:
            data = {"from": event.step, "to": token["to"], "reason": event.reason}
            yield "edge.selected", data
            branch = self._branches.get(token.get("branch", 0))
            if branch is not None and branch.join == token["to"]:
                yield from self._branch_ended(token["branch"])

    def _branch_ended(self, number: int | None) -> Iterator[_Row]:
        """It came to the join, or failed: as the node did that ended just now."""
        branch = self._branches.get(number or 0)
        if branch is not None:
            yield "parallel.branch_completed", {"branch": branch.name, "status": self._status}

    def _forked(self, event: e.BranchForked, fork: int) -> Iterator[_Row]:
        made = {one["id"]: _Branch(str(one["name"]), event.join) for one in event.branches}
        self._branches.update(made)
        self._forks[fork] = list(made)
        names = [branch.name for branch in made.values()]
        yield "parallel.fork", {"branches": names, "join": event.join, "width": event.width}
        for number, branch in made.items():
            if branch.name == event.join:  # an edge straight to where they meet
                yield from self._branch_ended(number)

    def _joined(self, event: e.BranchJoined, fork: int) -> Object:
        ended = self._forks.pop(fork, [])
        for number in ended:
            self._branches.pop(number, None)
        # A cancelled visit has no end of its own.
        self._visits = {k: v for k, v in self._visits.items() if v.branch not in ended}
        status = status_word(self.dialect, event.verdict) if event.verdict else None
        return {"policy": event.policy, "status": status, "cancelled": event.cancelled}


def nodes(log: Iterable[e.Event]) -> list[Object]:
    """The rows of a whole log."""
    return NodeWords().rows(log)


def _started(event: e.RunRequested) -> Object:
    data: Object = {"pipeline": event.program, "dialect": event.dialect}
    if event.continues is not None:
        data |= {"continues": event.continues, "entry": event.entry}
    return data


def _retrying(event: e.TaskRetryScheduled) -> Object:
    return {
        "attempt": event.attempt,
        "max_attempts": event.attempts,
        "delay": event.delay_seconds,
        "not_before": moment_text(event.not_before),
        "target": event.to or event.step,
        "error": event.last_error,
    }


def _question(event: e.HumanWaiting) -> Object:
    return {
        "question": event.question,
        "choices": event.choices,
        "deadline": None if event.deadline is None else moment_text(event.deadline),
        "timeout_action": event.action,
    }
