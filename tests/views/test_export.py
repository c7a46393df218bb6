"""A run as files: checkpoints, attempts, names and contexts, from the log alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Struct

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.outcome import outcome_of
from anew.languages import load_text
from anew.program.policy import DirectiveKind
from anew.program.program import Program
from anew.store import RunId, RunRow, StoredProgram
from anew.values import Object, put_in
from anew.views.export import attempts, checkpoints, contexts
from anew.views.export.changes import Append, Copy, Write
from anew.views.export.contexts import changes
from anew.views.export.directory import RunDirectory, Subject
from anew.views.export.names import NAME_BYTES_MAX, NodeNames
from tests.play import BOOM, DOWN, simulated
from tests.views.recorded import LOOP, RETRY, SECOND, START

CHAIN = """
workflow:
  - step: first
    tool:
      - write: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: 1}}}}]}}}
    next: {arcs: [{step: second}]}
  - step: second
    tool:
      - write: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: 2}}}}]}}}
"""


class Exported(Struct):
    """The files of an export, in memory."""

    files: dict[str, bytes]
    count: int

    def json(self, path: str) -> Any:
        return json.loads(self.files[path])

    def lines(self, path: str) -> list[Any]:
        return [json.loads(line) for line in self.files[path].splitlines()]

    @property
    def checkpoints(self) -> list[Object]:
        return [self.json(path) for path in self.numbered]

    @property
    def numbered(self) -> list[str]:
        paths = [path for path in self.files if path.startswith("checkpoints/")]
        return sorted(paths, key=lambda path: int(path.split("/")[1].split("_")[0].split(".")[0]))


def exported(
    log: Sequence[e.Event],
    program: Program | None = None,
    document: StoredProgram | None = None,
    *,
    now: int | None = None,
) -> Exported:
    head = fold(log)
    row = RunRow(
        run=RunId(7), program="flow", digest="d", status=head.status, version=head.version,
        created_at=log[0].at, updated_at=log[-1].at, ended_at=None, error=None, key=None,
        labels={}, parent=None, depth=0,
    )  # fmt: skip
    directory = RunDirectory(Subject(row, document, program))
    files: dict[str, bytes] = {}
    for event in [None, *log, None]:
        for change in _changes(directory, event, now, is_first=not directory.state.version):
            match change:
                case Append():
                    files[change.path] = files.get(change.path, b"") + change.data
                case Write():
                    assert change.path not in files
                    files[change.path] = change.data
                case Copy():
                    assert change.path not in files
                    files[change.path] = files[change.source]
    return Exported(files, directory.checkpoints)


def _changes(
    directory: RunDirectory, event: e.Event | None, now: int | None, *, is_first: bool
) -> list[Any]:
    if event is not None:
        return list(directory.feed(event))
    return list(directory.begin() if is_first else directory.finish(now))


def numbered(events: Sequence[e.Event]) -> list[e.Event]:
    """A log written by hand: one event a second."""
    for number, event in enumerate(events, 1):
        event.seq, event.at = number, START + number * SECOND
    return list(events)


# --- checkpoints ---------------------------------------------------------------------------------


def test_a_checkpoint_has_what_the_step_wrote_at_its_end() -> None:
    text = (
        "workflow:\n- {step: a, set: {x: 1}, next: {arcs: [{step: b, set: {y: 2}}]}}\n- {step: b}\n"
    )
    run = simulated(text)
    found = exported(run.log, run.program)
    assert found.json("checkpoints/001_a.json")["context"] == {"x": 1, "y": 2}


def test_a_checkpoint_is_saved_before_each_retry_after_each_node_and_at_the_end() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, DOWN, {"result": 1}]})
    told = exported(simulation.log, simulation.program)
    assert told.numbered == [
        "checkpoints/001_fetch.json",
        "checkpoints/002_fetch.json",
        "checkpoints/003_fetch.json",
        "checkpoints/004_store.json",
        "checkpoints/005_store.json",
    ]
    saved = [point["saved"] for point in told.checkpoints]
    assert saved == ["retrying", "retrying", "completed", "completed", "ended"]
    assert told.count == 5


def test_a_checkpoint_before_a_retry_says_when_it_comes_and_why() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    point = exported(simulation.log, simulation.program).checkpoints[0]
    scheduled = next(x for x in simulation.log if isinstance(x, e.TaskRetryScheduled))
    assert point["retry"]["delay_seconds"] == scheduled.delay_seconds
    assert (point["current_node"], point["visit"], point["attempt"]) == ("fetch", 1, 1)
    assert point["outcome"]["error"]["kind"] == "server_error"
    assert point["node_retries"] == {"fetch": 1}
    assert "will retry" in point["logs"][-1]


def test_a_checkpoint_has_the_history_and_the_way_that_was_chosen() -> None:
    simulation = simulated(RETRY, outcomes={"page": [{"result": 1}]})
    first, second, last = exported(simulation.log, simulation.program).checkpoints
    assert first["selected_edges"] == [{"from": "fetch", "to": "store", "reason": None}]
    assert second["selected_edges"] == []
    assert last["node_history"] == [["fetch", "success"], ["store", "success"]]
    assert last["completed_nodes"] == ["fetch", "store"]


def test_a_checkpoint_holds_the_context_as_it_was_then() -> None:
    simulation = simulated(CHAIN)
    told = exported(simulation.log, simulation.program)
    assert [point["context"] for point in told.checkpoints] == [{"n": 1}, {"n": 2}, {"n": 2}]


WRITING_LOOP = """
workflow:
  - step: each
    loop: {in: [1, 2], iterator: n, spec: {mode: parallel, max_in_flight: 1}}
    tool:
      - write: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {w: 1}}}}]}}}
      - flaky:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 2, delay: 5}
"""


def test_a_checkpoint_in_a_parallel_iteration_has_what_the_iteration_wrote() -> None:
    simulation = simulated(WRITING_LOOP, outcomes={"flaky": [DOWN, {}, {}]})
    retrying = exported(simulation.log, simulation.program).checkpoints[0]
    assert fold(simulation.log[: retrying["seq"]]).ctx == {}
    assert retrying["context"] == {"w": 1}


AGAIN = """
workflow:
  - step: a
    tool:
      - try:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, delay: 1}
                - else: {then: {do: continue, set_ctx: {round: "{{ (ctx.round or 0) + 1 }}"}}}
    next: {arcs: [{step: a, when: "{{ ctx.round < 2 }}"}]}
"""


def test_retries_are_counted_anew_when_a_node_that_went_well_is_come_to_again() -> None:
    simulation = simulated(AGAIN, outcomes={"try": [DOWN, {}, {}]})
    points = exported(simulation.log, simulation.program).checkpoints
    assert [(p["visit"], p["node_retries"]) for p in points[:3]] == [
        (1, {"a": 1}),
        (1, {"a": 1}),
        (2, {}),
    ]


def test_every_checkpoint_has_the_fields_of_both_dialects() -> None:
    simulation = simulated(RETRY, outcomes={"page": [BOOM]})
    fields = {
        "run_id", "pipeline_name", "current_node", "context", "outcome", "node_history",
        "goal_gate_status", "timestamp", "fidelity_state", "selected_edges", "completed_nodes",
        "node_retries", "logs",
    }  # fmt: skip
    told = exported(simulation.log, simulation.program)
    assert all(fields <= set(point) for point in told.checkpoints)
    assert fields <= set(told.json("checkpoint.json"))


def test_a_failed_node_is_told_with_its_error() -> None:
    simulation = simulated("workflow: [{step: a, tool: {kind: noop}}]", outcomes={"a": [BOOM]})
    told = exported(simulation.log, simulation.program)
    failed, ended = told.checkpoints
    assert failed["outcome"]["error"]["message"] == "boom"
    assert failed["node_history"] == [["a", "failure"]]
    assert ended["run_status"] == "failed"
    assert told.json("status.json")["error"]["message"] == "boom"


@pytest.mark.parametrize("cut", range(1, 19))
def test_a_run_in_any_state_can_be_exported(cut: int) -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    log = simulation.log[:cut]
    told = exported(log, simulation.program)
    assert len(told.lines("events.jsonl")) == cut
    assert told.json("status.json")["status"] == fold(log).status.value
    assert ("checkpoint.json" in told.files) == (told.count > 0)


def visited(step: str, token: int, *, branch: int | None = None, **ctx: str) -> list[e.Event]:
    place: Object = {"step": step, "visit": 1}
    task = {**place, "task": step, "attempt": 1}
    patches = {"ctx": ctx} if ctx else {}
    outcome = outcome_of({})
    return [
        e.StepScheduled(**place, tokens=[token], args={}, branch=branch),
        e.StepStarted(**place),
        e.TaskStarted(**task, task_visit=1),
        e.TaskProcessed(**task, outcome=outcome, directive=DirectiveKind.CONTINUE, patches=patches),
        e.StepDone(**place),
    ]


def test_a_checkpoint_in_a_branch_has_the_context_of_the_branch() -> None:
    tokens = [{"id": 2, "to": "a", "args": {}, "branch": 1}]
    tokens.append({"id": 3, "to": "b", "args": {}, "branch": 2})
    branches = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    fan: Object = {"step": "fan", "visit": 1}
    log = numbered(
        [
            e.RunRequested(run="7", program="flow", digest="d", workload={}),
            e.RunStarted(entry="fan"),
            *visited("fan", 1, shared="yes"),
            e.NextEvaluated(**fan, event="step.done", mode="fork", arcs=[], tokens=tokens),
            e.BranchForked(**fan, tokens=[2, 3], fork=1, join="j", branches=branches),
            *visited("a", 2, branch=1, who="a"),
            *visited("b", 3, branch=2, who="b"),
        ]
    )
    points = exported(log).checkpoints
    assert [point["branch"] for point in points] == [None, "a", "b"]
    assert [point["context"] for point in points] == [
        {"shared": "yes"},
        {"shared": "yes", "who": "a"},
        {"shared": "yes", "who": "b"},
    ]
    assert [edge["to"] for edge in points[0]["selected_edges"]] == ["a", "b"]


# --- attempts ------------------------------------------------------------------------------------


def test_every_attempt_keeps_its_own_files_and_the_latest_is_beside_them() -> None:
    outcomes = {"page": [DOWN, {"result": {"text": "hello"}}]}
    simulation = simulated(RETRY, outcomes=outcomes)
    told = exported(simulation.log, simulation.program)
    assert told.json("nodes/fetch/page.v1.a1/outcome.json")["verdict"] == "failure"
    assert told.json("nodes/fetch/page.v1.a2/outcome.json")["verdict"] == "success"
    assert told.files["nodes/fetch/response.md"] == b"hello"
    latest = told.files["nodes/fetch/outcome.json"]
    assert latest == told.files["nodes/fetch/page.v1.a2/outcome.json"]
    assert latest == told.files["nodes/fetch/status.json"]
    # The task of a step that has only one carries the step's name, which is not said twice.
    assert "nodes/store/v1.a1/outcome.json" in told.files


def test_a_prompt_with_a_secret_in_it_is_written_as_the_log_has_it() -> None:
    sealed = {"$secret": ["a ", {"ref": "key"}]}
    place: Object = {"step": "ask", "visit": 1}
    log = visited("ask", 1)
    log[2] = e.TaskStarted(**place, task="ask", attempt=1, task_visit=1, inputs={"prompt": sealed})
    begun = [
        e.RunRequested(run="7", program="f", digest="d", workload={}),
        e.RunStarted(entry="ask"),
    ]
    told = exported(numbered([*begun, *log]))
    assert json.loads(told.files["nodes/ask/prompt.md"]) == sealed


def test_an_attempt_that_is_at_work_has_its_prompt_and_no_outcome() -> None:
    place: Object = {"step": "ask", "visit": 1}
    inputs = {"prompt": "Why?", "fidelity": "full", "thread": "t1"}
    log = [
        e.RunRequested(run="7", program="f", digest="d", workload={}),
        e.RunStarted(entry="ask"),
        *visited("ask", 1)[:2],
        e.TaskStarted(**place, task="ask", attempt=1, task_visit=1, inputs=inputs),
    ]
    told = exported(numbered(log))
    assert told.files["nodes/ask/v1.a1/prompt.md"] == b"Why?"
    assert "nodes/ask/outcome.json" not in told.files
    assert told.json("status.json")["current_nodes"] == ["ask"]


def test_an_attempt_that_another_worker_takes_over_is_written_once() -> None:
    place: Object = {"step": "a", "visit": 1}
    log = visited("a", 1)
    for event in log:
        if isinstance(event, e.TaskStarted):
            event.inputs = {"prompt": "Why?"}
    again = e.TaskStarted(**place, task="a", attempt=1, task_visit=1, inputs={"prompt": "Why?"})
    lost = e.StepRedelivered(**place, delivery=2)
    begun = [e.RunRequested(run="7", program="f", digest="d", workload={}), e.RunStarted(entry="a")]
    told = exported(numbered([*begun, *log[:3], lost, again, *log[3:]]))
    assert [path for path in told.files if path.endswith(".a1/outcome.json")] == [
        "nodes/a/v1.a1/outcome.json"
    ]


def test_the_iterations_of_a_loop_are_kept_apart() -> None:
    simulation = simulated(LOOP % 3, outcomes={"one": [DOWN, {}, {}, {}]})
    told = exported(simulation.log, simulation.program)
    found = {path.split("/")[2] for path in told.files if path.startswith("nodes/each/one.")}
    assert found == {"one.v1.i0.a1", "one.v1.i0.a2", "one.v1.i1.a1", "one.v1.i2.a1"}
    retrying = told.checkpoints[0]
    assert (retrying["saved"], retrying["iteration"]) == ("retrying", 0)


def test_of_iterations_that_overlap_the_one_started_last_is_the_latest() -> None:
    outcomes = {"one": [{"takes": 5, "result": "first"}, {"takes": 1, "result": "second"}]}
    simulation = simulated(LOOP % 2, outcomes=outcomes)
    told = exported(simulation.log, simulation.program)
    assert told.json("nodes/each/one.v1.i0.a1/outcome.json")["result"] == "first"
    assert told.json("nodes/each/outcome.json")["result"] == "second"


PAGES = """
workflow:
  - step: pages
    tool:
      - get:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.result.more }}"
                  then: {do: jump, to: get}
"""


def test_a_task_that_is_come_to_again_in_a_visit_is_kept_apart() -> None:
    pages = [{"result": {"more": True}}, {"result": {"more": True}}, {"result": {"more": False}}]
    simulation = simulated(PAGES, outcomes={"get": pages})
    told = exported(simulation.log, simulation.program)
    found = [path.split("/")[2] for path in told.files if path.endswith("1/outcome.json")]
    assert found == ["get.v1.a1", "get.v1.n2.a1", "get.v1.n3.a1"]


def test_a_large_result_is_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "RESULT_BYTES_MAX", 100)
    document = "workflow: [{step: big, tool: {kind: noop}}]"
    simulation = simulated(document, outcomes={"big": [{"result": {"rows": ["x" * 200]}}]})
    told = exported(simulation.log, simulation.program)
    outcome = told.json("nodes/big/outcome.json")
    assert outcome["result"] is None
    assert told.json(outcome["result_file"]) == {"rows": ["x" * 200]}
    assert told.checkpoints[0]["outcome"]["result_file"] == outcome["result_file"]


# --- what the run is -----------------------------------------------------------------------------


def test_the_log_is_written_as_the_events_command_prints_it() -> None:
    simulation = simulated(RETRY, outcomes={"page": [{"result": 1}]})
    told = exported(simulation.log, simulation.program)
    assert told.lines("events.jsonl") == [e.to_row(event) for event in simulation.log]
    kinds = [row["type"] for row in told.lines("node-events.jsonl")]
    assert kinds[0] == "pipeline.started"
    assert kinds[-1] == "pipeline.completed"


def test_a_checkpoint_has_the_number_that_the_node_events_give_it() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    told = exported(simulation.log, simulation.program)
    rows = [row for row in told.lines("node-events.jsonl") if row["type"] == "checkpoint.created"]
    numbers = {row["seq"]: row["data"]["number"] for row in rows}
    points = [point for point in told.checkpoints if point["saved"] != "ended"]
    assert {point["seq"]: point["number"] for point in points} == numbers


@pytest.mark.parametrize(
    ("file", "name"),
    [("flow.yaml", "playbook.yaml"), ("a/flow.json", "playbook.json"), ("g.dot", "pipeline.dot")],
)
def test_the_document_is_there_as_it_was_run(file: str, name: str) -> None:
    simulation = simulated(CHAIN)
    document = StoredProgram("d", "flow", 0, CHAIN, file, 0)
    told = exported(simulation.log, None, document)
    assert told.files[name] == CHAIN.encode()
    manifest = told.json("manifest.json")
    assert (manifest["document"], manifest["run_id"], manifest["digest"]) == (name, "7", "d")


def test_a_run_whose_document_is_gone_can_be_exported() -> None:
    told = exported(simulated(CHAIN).log)
    assert told.json("manifest.json")["document"] is None
    assert told.count == 3


# --- sizes ---------------------------------------------------------------------------------------


def context_at(told: Exported, path: str) -> Object:
    """The whole context of a checkpoint, by way of those it refers to."""
    chain: list[Object] = []
    point = told.json(path)
    while point["context"] is None:
        assert len(chain) < told.count, "the checkpoints refer to each other in a circle"
        chain.append(point)
        point = told.json(f"checkpoints/{point['context_from']}")
    context: Object = point["context"]
    for later in reversed(chain):
        for gone in later["context_removed"]:
            context = without(context, gone)
        for where, value in later["context_set"]:
            context = put_in(context, where, value)
    return context


def without(root: Object, path: list[str]) -> Object:
    head, *rest = path
    if not rest:
        return {key: value for key, value in root.items() if key != head}
    return {**root, head: without(root[head], rest)}


def long_chain(length: int) -> str:
    """A counter beside a list that never changes, each written by an arc of its own step."""
    step = """
  - step: s{n}
    tool:
      - write:
          kind: noop
          spec: {{policy: {{rules: [{{else: {{then: {{do: continue, set_ctx: {writes}}}}}}}]}}}}
    next: [{{step: s{to}}}]"""
    first = step.format(n=0, to=1, writes='{big: "{{ workload.big }}"}')
    rest = [step.format(n=n, to=n + 1, writes=f'{{"deep.n": {n}}}') for n in range(1, length)]
    last = f"\n  - step: s{length}\n    tool: {{kind: noop}}"
    return "workload: {big: []}\nworkflow:" + first + "".join(rest) + last


def test_a_large_context_is_not_written_for_every_node() -> None:
    big = ["x" * 1000] * 200
    simulation = simulated(long_chain(60), workload={"big": big})
    told = exported(simulation.log, simulation.program)
    written = sum(len(told.files[path]) for path in told.numbered)
    assert simulation.state.ctx["big"] == big
    assert written < 4 * len(json.dumps(big))
    for path in told.numbered:
        point = told.json(path)
        assert context_at(told, path) == fold(simulation.log[: point["seq"]]).ctx
    assert told.json("checkpoint.json")["context"] == simulation.state.ctx


def test_small_contexts_are_whole_until_they_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "CONTEXTS_BYTES_MAX", 200)
    simulation = simulated(long_chain(30))
    told = exported(simulation.log, simulation.program)
    is_whole = [point["context"] is not None for point in told.checkpoints]
    assert is_whole[:5] == [True] * 5
    assert not any(is_whole[15:])
    assert context_at(told, told.numbered[-1]) == simulation.state.ctx


def test_lists_that_grow_are_cut_in_all_but_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "CHECKPOINT_ENTRIES_MAX", 3)
    simulation = simulated(long_chain(9))
    told = exported(simulation.log, simulation.program)
    last = told.checkpoints[-1]
    assert last["completed_nodes"] == ["s7", "s8", "s9"]
    assert last["node_history_left_out"] == 7
    assert len(told.json("checkpoint.json")["node_history"]) == 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([0.0, 1.0, "", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab."), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "", "a.b"]), JSON)


@given(OBJECTS, OBJECTS)
@example({"a": 1}, {"a": True})
def test_the_changes_make_one_context_of_another(before: Object, after: Object) -> None:
    written, gone = changes(before, after)
    context = before
    for path in gone:
        context = without(context, list(path))
    for path, value in written:
        context = put_in(context, path, value)
    assert json.dumps(context, sort_keys=True) == json.dumps(after, sort_keys=True)


# --- names ---------------------------------------------------------------------------------------

HOSTILE = [
    "../../etc/passwd", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\0b", "a\nb", "CON", "nul.txt",
    "com1", "a" * 5000, "漢" * 200, "a ", "a.", ".hidden", "-rf", "~", "a:b", "e\u0301", "\u212b", "\u202etxt",
    "t (restart)",
]  # fmt: skip


@pytest.mark.parametrize("node", HOSTILE)
def test_a_hostile_name_becomes_a_safe_one(node: str) -> None:
    name = NodeNames().of(node)
    assert name != node
    assert not set(name) & set('/\\:*?"<>|\0\n ')
    assert name.strip(".")
    assert len(name.encode()) <= NAME_BYTES_MAX
    assert not name.startswith((".", "-"))


@pytest.mark.parametrize("node", ["build", "run_tests", "Step-2", "v1.2", "überprüfen", "検査"])
def test_a_plain_name_stays_as_it_is(node: str) -> None:
    assert NodeNames().of(node) == node


def test_names_that_some_disk_takes_for_one_are_told_apart() -> None:
    names = NodeNames()
    found = [names.of(node) for node in ("Build", "build", "BUILD", "stra\u00dfe", "STRASSE")]
    assert found[0] == "Build"
    assert len({name.casefold() for name in found}) == 5
    assert names.of("build") == found[1]


@given(st.lists(st.text(max_size=12), unique=True, max_size=20))
def test_no_two_nodes_share_a_name(nodes: list[str]) -> None:
    names = NodeNames()
    found = [names.of(node) for node in nodes]
    assert len({name.casefold() for name in found}) == len(nodes)
    assert not any("/" in name or name in ("", ".", "..") for name in found)


def test_a_hostile_step_cannot_leave_the_directory() -> None:
    document = 'workflow: [{step: "../../up", tool: {kind: noop}}]'
    assert load_text(document, "flow.yaml").program is not None
    simulation = simulated(document)
    told = exported(simulation.log, simulation.program)
    assert not any(".." in path.split("/") or path.startswith("/") for path in told.files)
    assert told.json(told.numbered[0])["current_node"] == "../../up"
