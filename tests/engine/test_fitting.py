"""Whether a run can go on under another program, and that it does where it can."""

from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from anew.engine.boundaries import Requested
from anew.engine.fitting import misfits_of
from anew.engine.fold import fold
from anew.engine.fork_points import fork_point
from anew.engine.outcome import outcome_of
from anew.languages import load_text
from tests.engine.driving import Drive, driven, forked
from tests.engine.generated_dots import Sketch
from tests.engine.test_fork_points import cuts_of
from tests.generated import playbooks
from tests.suites import tried

FLOW = """
metadata: {name: flow}
workflow:
  - step: start
    tool:
      - {name: a, kind: noop}
      - {name: b, kind: noop}
    next: {spec: {mode: inclusive}, arcs: [{step: left}, {step: right}]}
  - step: left
    loop: {in: "{{ [1, 2] }}", iterator: n}
    tool: {kind: noop}
  - step: right
    tool: {kind: human, question: "Go on?"}
"""


def program(text, name="new.yaml"):
    loaded = load_text(text, name)
    assert loaded.program is not None, loaded.findings
    return loaded.program


def messages(state, new):
    return [found.message for found in misfits_of(state, program(FLOW, "old.yaml"), program(new))]


def stopped_at(task):
    """How FLOW stands when a task has been started."""
    drive = Drive(program(FLOW), outcome=lambda place, seed: outcome_of({}))
    drive.do(Requested("1", {}))
    while all(run.task != task for run in drive.state.live_step_runs()):
        drive.do(drive.move())
    return drive.state


def test_a_program_that_never_had_what_is_live_does_not_fit_itself():
    state, other = stopped_at("b"), program(FLOW.replace("step: start", "step: begin"))
    assert [found.step for found in misfits_of(state, other, other)] == ["start"]


def test_a_program_that_changes_only_what_has_ended_or_not_begun_fits():
    state = stopped_at("b")
    assert messages(state, FLOW) == []
    changed = FLOW.replace("n}", "m}").replace("Go on?", "Well?")
    assert messages(state, changed + "  - {step: more, tool: {kind: noop}}\n") == []


def test_a_task_that_is_gone_or_of_another_kind_or_elsewhere_does_not_fit():
    state = stopped_at("b")
    gone = FLOW.replace("{name: b, kind: noop}", "{name: c, kind: noop}")
    assert messages(state, gone) == ["it is at task 'b' of step 'start', which is not there"]
    other = FLOW.replace("{name: b, kind: noop}", "{name: b, kind: shell, command: x}")
    assert messages(state, other) == [
        "it is at task 'b' of step 'start', which is noop here and shell there"
    ]
    moved = FLOW.replace(
        "- {name: a, kind: noop}", "- {name: new, kind: noop}\n      - {name: a, kind: noop}"
    )
    assert messages(state, moved) == [
        "it is at task 'b' of step 'start', and there other tasks come before it: new, a"
    ]


def test_every_reason_is_told_with_its_place():
    new = "metadata: {name: flow}\nworkflow:\n  - step: start\n    tool: {kind: noop}\n"
    state = stopped_at("left")
    found = misfits_of(state, program(FLOW, "old.yaml"), program(new))
    assert [(str(one.span), one.message) for one in found] == [
        ("new.yaml:1:1", "it is in step 'left', which is not there"),
        ("new.yaml:1:1", "it is in step 'right', which is not there"),
    ]


def test_a_question_that_is_open_must_be_one_there():
    new = FLOW.replace('kind: human, question: "Go on?"', "kind: noop")
    (found,) = misfits_of(stopped_at("right"), program(FLOW, "old.yaml"), program(new))
    assert str(found.span) == "new.yaml:13:5"
    doing = "it asks a person in task 'right' of step 'right'"
    assert found.message == f"{doing}, which is human here and noop there"


def test_a_loop_must_stay_one_and_name_its_items_alike():
    state = stopped_at("left")
    assert messages(state, FLOW.replace("iterator: n", "iterator: m")) == [
        "the items of the loop of step 'left' are called 'n', and there 'm'"
    ]
    plain = FLOW.replace('    loop: {in: "{{ [1, 2] }}", iterator: n}\n', "")
    assert "which is not a loop there" in messages(state, plain)[0]


def test_open_branches_meet_where_they_were_to_meet():
    text = """
digraph g {{
  s [shape=ellipse]; f [shape=hexagon]; {nodes}; j [shape=invhouse]; e [shape=ellipse]
  s -> f; {edges}; j -> e
}}
"""

    def graph(*names):
        nodes = "; ".join(f"{name} [goal=x]" for name in names)
        edges = "; ".join(f"f -> {name} -> j" for name in names)
        return program(text.format(nodes=nodes, edges=edges), "new.dot")

    old = graph("a", "b")
    drive = Drive(old)
    drive.do(Requested("1", {}))
    while not drive.state.branch_groups:
        drive.do(drive.move())
    assert misfits_of(drive.state, old, graph("a", "b")) == []
    (found,) = misfits_of(drive.state, old, graph("a", "b", "c"))
    assert found.message == "the split 'f' has the branches a, b, and there a, b, c"


@tried(playbooks(), playbooks(), st.integers(0, 99), examples=6, long=(17, 17))
def test_a_state_that_fits_never_breaks_the_engine(old_text, new_text, seed):
    old, new = program(old_text), program(new_text)
    log = driven(old, seed=seed).log
    for asked in list(cuts_of(log, seed))[:20]:
        goes_on_without_a_bug(log, fork_point(log, asked), old, new, seed)


@tried(st.integers(0, 10_000), st.integers(0, 10_000), examples=10, long=(30,))
def test_a_graph_that_fits_never_breaks_the_engine(one, other):
    sketches = (Sketch(Random(seed)).text() for seed in (one, other))
    old, new = (load_text(text, "test.dot").program for text in sketches)
    assume(old is not None)
    assume(new is not None)
    log = driven(old, seed=one).log
    for asked in list(cuts_of(log, one))[:20]:
        goes_on_without_a_bug(log, fork_point(log, asked), old, new, one)


def goes_on_without_a_bug(log, at, old, new, seed):
    state = fold(log[:at])
    if state.is_final or misfits_of(state, old, new):
        return
    drive = forked(new, log, at, seed=seed, decided_by=old.digest)
    drive.play(100)


def test_where_a_step_run_was_about_to_go_must_be_there():
    text = """
metadata: {name: jumps}
workflow:
  - step: start
    tool:
      - name: a
        kind: noop
        spec: {policy: {rules: [{else: {then: {do: jump, to: c, delay: 9}}}]}}
      - {name: b, kind: noop}
      - {name: c, kind: noop}
"""
    old = program(text, "old.yaml")
    drive = Drive(old)
    drive.do(Requested("1", {}))
    while all(run.directive != "jump" for run in drive.state.live_step_runs()):
        drive.do(drive.move())
    new = program(text.replace("to: c", "to: b").replace("name: c", "name: d"))
    (found,) = misfits_of(drive.state, old, new)
    assert found.message == "it continues with task 'c' of step 'start', which is not there"
    assert misfits_of(drive.state, old, program(text.replace("name: b", "name: d"))) == []


def test_the_step_by_way_of_which_a_task_is_retried_must_be_there():
    text = """
digraph g {
  s [shape=ellipse]; b [goal=y]; e [shape=ellipse]
  a [goal=x retry_target=b max_retries=2 retry_policy=linear]
  s -> b -> a -> e
}
"""
    old = program(text, "old.dot")
    down = outcome_of(error={"kind": "server_error", "message": "503", "retryable": True})
    drive = Drive(old, outcome=lambda place, seed: outcome_of({}) if place[1] == "b" else down)
    drive.do(Requested("1", {}))
    while all(run.redirect is None for run in drive.state.live_step_runs()):
        drive.do(drive.move())
    (found,) = misfits_of(drive.state, old, program(text.replace("b", "c"), "new.dot"))
    assert found.message == "it retries by way of step 'b', which is not there"
