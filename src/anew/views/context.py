"""The context of a run as people know it: what was written, and the keys that are always there.

A graph's authors read `_current_node`, `outcome` and their like as keys of the context. No event
writes them: they follow from the log, so they are derived here, for every surface alike. Playbooks
have no such keys.
"""

from __future__ import annotations

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.moments import moment_text
from anew.program.kind import OutcomeSource
from anew.program.policy import Verdict
from anew.program.program import Program, Step
from anew.values import Object

GRAPHS = "dot"
_PENDING = "PENDING"
# How each dialect says a verdict; the first is the seed's.
_DOCS, _SPEC = "docs", "spec"
STATUS_WORDS: dict[str, dict[Verdict, str]] = {
    _DOCS: {verdict: verdict.value.upper() for verdict in Verdict},
    _SPEC: {
        Verdict.SUCCESS: "success",
        Verdict.PARTIAL: "partial_success",
        Verdict.SKIPPED: "skipped",
        Verdict.FAILURE: "fail",
    },
}


def status_word(dialect: str, verdict: Verdict, word: str | None = None) -> str:
    """A verdict as a dialect says it; where authors route on the tool's own word, that one."""
    if word is not None and dialect == _SPEC:
        return word
    return STATUS_WORDS[dialect][verdict]


class NodePassage(Struct):
    """What a log says about the nodes it passed: which is current, how each one went.

    Feeding an event costs the same however long the run is.
    """

    run: str = ""
    name: str = ""
    began_at: int = 0
    node: str | None = None
    previous: str | None = None
    node_began_at: int = 0
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    unmet: set[str] = field(default_factory=set)  # gates whose condition did not hold
    retries: dict[str, int] = field(default_factory=dict)
    verdict: Verdict | None = None
    word: str | None = None
    label: str | None = None
    branches: dict[int, str] = field(default_factory=dict)
    branch_of: dict[str, str] = field(default_factory=dict)
    _origins: dict[int, tuple[str, bool]] = field(default_factory=dict)
    _came_from: dict[str, str] = field(default_factory=dict)

    def feed(self, program: Program, event: e.Event) -> None:
        """Take one more event of the log, in order."""
        match event:
            case e.RunRequested():
                self.run, self.name, self.began_at = event.run, event.program, event.at
            case e.NextEvaluated():
                for token in event.tokens:
                    self._origins[token["id"]] = (event.step or "", not token.get("via"))
            case e.StepScheduled():
                self._enter(event)
            case e.TaskStarted() if _counts(program, event.step):
                self._start(event)
            case e.TaskProcessed() if event.step == self.node:
                self._processed(event)
            case e.TaskRetryExhausted() if event.step == self.node and event.verdict:
                self.verdict = event.verdict
            case e.TaskRetryScheduled():
                self.retries[event.step or ""] = event.count or event.attempt or 1
            case e.StepDone():
                verdict = event.verdict or Verdict.SUCCESS
                self.verdicts[event.step or ""] = verdict
                (self.unmet.add if event.gate is False else self.unmet.discard)(event.step or "")
            case e.StepFailed():
                self.verdicts[event.step or ""] = Verdict.FAILURE
            case e.GateChecked() if event.gate is not None and event.count is not None:
                self.retries[event.gate] = event.count
            case e.BranchForked():
                self.branches.update({one["id"]: str(one["name"]) for one in event.branches})
            case _:
                pass

    def _enter(self, event: e.StepScheduled) -> None:
        step = event.step or ""
        origins = [o for o in (self._origins.pop(t, None) for t in event.tokens) if o]
        if origins:
            self._came_from[step] = origins[-1][0]
        is_by_arc = all(by_arc for _, by_arc in origins)
        has_succeeded = self.verdicts.get(step) is Verdict.SUCCESS and step not in self.unmet
        if is_by_arc and has_succeeded:
            self.retries.pop(step, None)
        if event.branch is None:
            self.branch_of.pop(step, None)
        elif event.branch in self.branches:
            self.branch_of[step] = self.branches[event.branch]

    def _start(self, event: e.TaskStarted) -> None:
        self.node, self.node_began_at = event.step, event.at
        self.previous = self._came_from.get(event.step or "")

    def _processed(self, event: e.TaskProcessed) -> None:
        outcome = event.outcome
        self.verdict = event.verdict or outcome.amounts_to
        self.word, self.label = outcome.word, outcome.label


def _counts(program: Program, name: str | None) -> bool:
    """Whether a step is a node that was executed: not the exit, nor one we put in ourselves."""
    step = program.steps.get(name or "")
    return step is not None and not step.is_exit and not is_made_up(step)


def is_made_up(step: Step) -> bool:
    """A step that no author wrote: it stands for an edge that starts the graph anew."""
    return any(task.outcome_from is OutcomeSource.RESTART for task in step.tasks)


def context_of(program: Program | None, passage: NodePassage, ctx: Object) -> Object:
    """The run's ctx, and for a graph the keys of its dialect that are always there."""
    if program is None or program.language != GRAPHS:
        return ctx
    built_in = _docs_keys if program.dialect == _DOCS else _spec_keys
    return {**ctx, **built_in(program, passage)}


def _docs_keys(program: Program, passage: NodePassage) -> Object:
    keys: Object = {
        "_current_node": passage.node,
        "_previous_node": passage.previous,
        "_pipeline_name": passage.name,
        "_run_id": passage.run,
        "_retry_count": passage.retries.get(passage.node or "", 0),
        "_start_time": moment_text(passage.began_at),
        "_goal_gates": _gates(program, passage),
    }
    if passage.node is not None:
        keys["_node_start_time"] = moment_text(passage.node_began_at)
    if passage.node in passage.branch_of:
        keys["_branch_id"] = passage.branch_of[passage.node]
    return keys


def _gates(program: Program, passage: NodePassage) -> Object:
    """Each goal gate by how it stands, in the order of the file."""
    gates = [step.name for step in program.steps.values() if step.gate is not None]
    return {
        name: status_word(_DOCS, passage.verdicts[name]) if name in passage.verdicts else _PENDING
        for name in gates
    }


def _spec_keys(_program: Program, passage: NodePassage) -> Object:
    keys: Object = {"current_node": passage.node}
    if passage.verdict is not None:
        keys["outcome"] = status_word(_SPEC, passage.verdict, passage.word)
    if passage.label is not None:
        keys["preferred_label"] = passage.label
    for name, count in passage.retries.items():
        keys[f"internal.retry_count.{name}"] = count
    return keys
