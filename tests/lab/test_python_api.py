"""Scenarios in code: `anew.lab` as its users call it, on playbooks and graphs."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest

import anew
from anew import lab
from anew.engine.state import RunStatus
from anew.lab import python_api, script, simulate
from anew.lab.script import script_of
from anew.languages.dot.extensions import Extensions
from anew.surfaces.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
FLOW = """\
metadata: {name: flow}
workload: {limit: 1}
workflow:
  - step: fetch
    tool:
      - call:
          kind: http
          url: http://x
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' and outcome.error.retryable }}"
                  then: {do: retry, attempts: 4, backoff: exponential, delay: 1, jitter: 0.5}
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: fail}
                - else: {then: {do: continue, set_ctx: {got: "{{ outcome.result.data }}"}}}
    next:
      arcs:
        - {step: store}
        - {step: clean, when: "{{ event.name == 'step.failed' and event.error.kind == 'auth' }}"}
  - step: store
    tool: {kind: noop}
  - step: clean
    tool: {kind: noop}
"""
GRAPH = """\
digraph page {
    start [shape=ellipse]
    draft [goal="Write" max_retries=2 retry_backoff=exponential retry_jitter=0]
    gate  [shape=house label="Ship it?"]
    done  [shape=ellipse]
    start -> draft -> gate
    gate -> done [label="[Y] Yes"]
    gate -> draft [label="[N] No"]
}
"""


@pytest.fixture
def flow() -> lab.Program:
    return lab.load_text(FLOW, "flow.yaml")


# --- loading -------------------------------------------------------------------------------------


def test_a_document_that_has_errors_is_refused_with_its_findings(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(FLOW.replace("do: retry", "do: retyr"), encoding="utf-8")
    with pytest.raises(lab.ProgramError, match="retyr") as caught:
        lab.load(file)
    assert [found.rule for found in caught.value.findings] == ["rule.do"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(lab.ConfigError, match=r"missing\.dot"):
        lab.load(tmp_path / "missing.dot")


def test_both_languages_are_told_apart_by_the_name() -> None:
    assert lab.load_text(FLOW, "a.yaml").language == "playbook"
    assert lab.load_text(GRAPH, "a.dot").language == "dot"
    assert lab.load_text(GRAPH, "a.dot", dialect="docs").dialect == "docs"


def test_a_kind_that_code_brings_can_be_played() -> None:
    text = "workflow: [{step: a, tool: {kind: dice, sides: 6}}]"
    with pytest.raises(lab.ProgramError, match="dice"):
        lab.load_text(text, "a.yaml")
    own = lab.load_text(text, "a.yaml", extensions=Extensions(kinds=frozenset({"dice"})))
    assert lab.play(own, outcomes={"a": lab.ok(4)}).result == 4


# --- playing -------------------------------------------------------------------------------------


def test_a_playbook_is_played_to_its_end(flow: lab.Program) -> None:
    down = lab.error("server_error", http=503, times=2, takes=0.4)
    played = lab.play(
        flow, {"limit": 2}, outcomes={"call": [down, lab.ok({"data": [1, 2]})]}, random=0
    )
    assert played.status == "done"
    assert played.visits == ["fetch", "store"]
    assert played.attempts == {"call": 3, "store": 1, "clean": 0}
    assert played.delays == [1.0, 2.0]
    assert played.elapsed == pytest.approx(3.8)
    assert played.ctx == {"got": [1, 2]}
    assert played.error is None
    assert played.handled == []
    assert played.log[0].workload == {"limit": 2}
    assert played.runs == [played.log]
    assert played.timeline.splitlines()[-1] == "done after 3.800 virtual seconds"
    assert played.report()["attempts"] == played.attempts
    assert repr(played) == "<flow: done after 3.8 virtual seconds>"


def test_a_failure_is_told_with_its_error(flow: lab.Program) -> None:
    refused = lab.play(flow, outcomes={"fetch.call": lab.error("auth", "no")})
    assert (refused.status, refused.handled) == ("done", ["fetch"])
    gone = lab.play(flow, outcomes={"call": lab.error("not_found", "gone", code=404)})
    assert gone.status == "failed"
    assert gone.error is not None
    assert (gone.error["kind"], gone.error["message"], gone.error["code"]) == (
        "not_found",
        "gone",
        404,
    )


def test_a_graph_is_played_in_its_own_words() -> None:
    page = lab.load_text(GRAPH, "page.dot")
    busy = lab.status("FAILURE", error={"type": "TRANSIENT"}, context={"tried": 1})
    played = lab.play(
        page,
        outcomes={
            "draft": [busy, lab.status("SUCCESS")],
            "gate": [lab.answer("N", takes="1m"), lab.answer("Y")],
        },
    )
    assert played.status == "done"
    assert played.visits == ["start", "draft", "draft", "gate", "draft", "gate", "done"]
    assert played.delays == [1.0]
    assert played.ctx["tried"] == 1
    assert played.elapsed == 61.0


def test_a_signal_is_waited_for() -> None:
    text = "workflow: [{step: pay, tool: {kind: wait, signal: paid, timeout: 1h}}]"
    waiting = lab.load_text(text, "pay.yaml")
    by_task = lab.play(waiting, outcomes={"pay": lab.signal({"amount": 3}, takes=60)})
    by_name = lab.play(waiting, signals=[{"signal": "paid", "payload": {"amount": 3}, "at": 60}])
    assert by_task.result == by_name.result == {"amount": 3}
    assert by_task.elapsed == by_name.elapsed == 60
    assert lab.play(waiting).error == by_nobody()


def by_nobody() -> object:
    text = "workflow: [{step: pay, tool: {kind: wait, signal: paid, timeout: 1h}}]"
    return lab.play(lab.load_text(text, "pay.yaml"), now="2020-01-01T00:00:00Z").error


@pytest.mark.parametrize(
    ("random", "delays"),
    [(0, [1.0]), (1, [1.5]), ({"draws": [0.5]}, [1.25]), ({"seed": 3}, [1.118982])],
)
def test_chance_is_what_the_test_says(
    flow: lab.Program, random: float | dict[str, int | list[float]], delays: list[float]
) -> None:
    outcomes = {"call": (lab.error("timeout"), lab.ok())}
    assert lab.play(flow, outcomes=outcomes, random=random).delays == pytest.approx(delays)


def test_mappings_and_sequences_of_any_kind_will_do(flow: lab.Program) -> None:
    played = lab.play(
        flow,
        MappingProxyType({"limit": MappingProxyType({"a": (1, 2)})}),
        outcomes=MappingProxyType({"call": (lab.error("timeout"), lab.ok())}),
        random=MappingProxyType({"draws": (0.5,)}),
        lags=MappingProxyType({"fetch#1": (2,)}),
    )
    assert played.log[0].workload == {"limit": {"a": [1, 2]}}
    assert played.delays == [1.25]


def test_what_is_doubtful_is_a_warning_in_the_line_of_the_test(flow: lab.Program) -> None:
    with pytest.warns(UserWarning, match="Did you mean 'call'") as caught:
        lab.play(flow, outcomes={"cal": lab.ok()})
    assert caught[0].filename == __file__


# --- outcomes ------------------------------------------------------------------------------------

ENTRIES = [
    (lab.ok(), {"result": {}}),
    (lab.ok(None), {"result": None}),
    (lab.ok([1], times=2, takes="5s"), {"result": [1], "times": 2, "takes": "5s"}),
    (lab.ok(http=201), {"result": {}, "http": {"status": 201}}),
    (
        lab.ok(label="ship", suggested=("a",), context={"n": 1}),
        {"result": {}, "label": "ship", "suggested": ["a"], "context": {"n": 1}},
    ),
    (lab.error("timeout"), {"error": {"kind": "timeout"}}),
    (
        lab.error("exit_code", "bad", retryable=True, shell={"exit_code": 2}, result={"out": ""}),
        {
            "error": {"kind": "exit_code", "message": "bad", "retryable": True},
            "result": {"out": ""},
            "shell": {"exit_code": 2},
        },
    ),
    (
        lab.error("rate_limit", retry_after=7, http={"status": 429}),
        {"error": {"kind": "rate_limit", "retry_after": 7}, "http": {"status": 429}},
    ),
    (lab.answer("Y", takes=3), {"answer": "Y", "takes": 3}),
    (lab.signal({"a": 1}), {"signal": {"a": 1}}),
    (lab.status("FAILURE", error="why"), {"status": "FAILURE", "error": "why"}),
]


@pytest.mark.parametrize(("entry", "said"), ENTRIES)
def test_an_outcome_is_what_one_would_write_in_a_script(entry: object, said: object) -> None:
    assert entry == said
    script_of({"outcomes": {"t": [entry]}})


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: lab.ok(times=0), "lab.ok: times must be"),
        (lambda: lab.ok(takes="soon"), "lab.ok: takes must be"),
        (lambda: lab.ok(htp=503), "Did you mean 'http'"),
        (lambda: lab.ok(http=7), "lab.ok: http must be a status from 100 to 599"),
        (lambda: lab.ok(shell=1), "lab.ok: shell must be a mapping"),
        (lambda: lab.ok(suggested="a"), "lab.ok: suggested must be a list"),
        (lambda: lab.error(503), "lab.error: error.kind must be a word"),
        (lambda: lab.answer(" "), "lab.answer: an answer is a text"),
        (lambda: lab.answer(None), "lab.answer: an answer is a text"),
        (lambda: lab.status(""), "lab.status: a status is a word"),
        (lambda: lab.status("SUCCESS", context=[1]), "context must be a mapping"),
    ],
)
def test_what_a_script_refuses_is_refused_where_it_is_written(made: object, told: str) -> None:
    with pytest.raises(lab.ConfigError, match=re.escape(told)):
        made()


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"outcomes": {"call": []}}, "lab.play: outcomes.call is empty"),
        ({"outcomes": {"call": [{"reslt": 1}]}}, "unknown key 'reslt'"),
        ({"random": 2}, "lab.play: random must be"),
        ({"now": "soon"}, "lab.play: now is 'soon'"),
        ({"lags": {"fetch#1": ["x"]}}, "lab.play: lags.fetch#1"),
        ({"outcomes": [1]}, "lab.play: outcomes must be a mapping, not [1]"),
        ({"workload": {"a": {"b": b"x"}}}, "lab.play: workload.a.b has a bytes, which JSON"),
        ({"workload": {"a": bytearray(2)}}, "lab.play: workload.a has a bytearray"),
        ({"workload": {1: 2}}, "lab.play: workload has the key 1, which is not text"),
        ({"workload": {"a": ENDLESS}}, "lab.play: a value is nested deeper than 200 levels"),
    ],
)
def test_an_argument_that_is_wrong_is_named(
    flow: lab.Program, arguments: dict[str, object], told: str
) -> None:
    with pytest.raises(lab.ConfigError, match=re.escape(told)):
        lab.play(flow, **arguments)


# --- expecting -----------------------------------------------------------------------------------


def test_what_came_out_may_be_expected(flow: lab.Program) -> None:
    played = lab.play(flow)
    assert played.expect(status="done", attempts={"call": 1}, noctx=["x"], exit_status=0) is played


def test_what_did_not_come_out_is_told_as_anew_test_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    expected = {"status": "failed", "attempts": {"call": 2}, "visits": ["fetch", "clean"]}
    scenario = tmp_path / "flow.scenario.json"
    scenario.write_text(json.dumps({"expect": expected}), encoding="utf-8")
    with pytest.raises(AssertionError) as caught:
        lab.play(lab.load(tmp_path / "flow.yaml")).expect(**expected)
    lines = str(caught.value).splitlines()
    assert lines[0] == "flow: 3 expectations are not met"
    assert '  status: expected "failed", found "done"' in lines
    assert main(["test", str(scenario)]) == 1
    printed = capsys.readouterr().out
    assert [line for line in lines[1:] if line not in printed] == []


def test_an_expectation_that_is_none_is_refused(flow: lab.Program) -> None:
    with pytest.raises(lab.ConfigError, match="Did you mean 'status'"):
        lab.play(flow).expect(statu="done")


def test_what_is_expected_may_be_of_any_kind_that_a_script_may(flow: lab.Program) -> None:
    played = lab.play(flow, outcomes={"call": lab.ok({"data": [1, {"a": 2}]})})
    played.expect(
        status=RunStatus.DONE,
        visits=("fetch", "store"),
        attempts=MappingProxyType({"call": 1}),
        ctx=MappingProxyType({"got": (1, MappingProxyType({"a": 2}))}),
        noctx=(),
    )


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ({"noctx": {"a"}}, "expect: noctx has a set, which JSON does not know"),
        ({"elapsed": Decimal(0)}, "expect: elapsed has a Decimal"),
        ({"elapsed": 10**400}, "expect: elapsed has a whole number over 64 bits"),
        ({"elapsed": float("nan")}, "expect: elapsed has a number that is not finite"),
        ({"result": {"at": datetime(2000, 1, 1)}}, "expect: result.at has a datetime"),
        ({"result": b"x"}, "expect: result has a bytes"),
        ({"ctx": {1: 2}}, "expect: ctx has the key 1, which is not text"),
        ({"result": ENDLESS}, "expect: a value is nested deeper than 200 levels"),
    ],
)
def test_what_no_run_can_give_cannot_be_expected(
    flow: lab.Program, expected: dict[str, object], told: str
) -> None:
    with pytest.raises(lab.ConfigError, match=re.escape(told)):
        lab.play(flow).expect(**expected)


def test_nobody_changes_a_play_by_what_it_told(flow: lab.Program) -> None:
    played = lab.play(flow, outcomes={"call": lab.ok({"data": [1]})})
    played.report()["ctx"]["got"].append(2)
    played.report().clear()
    played.ctx["got"].append(3)
    assert played.expect(ctx={"got": [1]}).report()["status"] == "done"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda _: lab.play("x.yaml"), "lab.play: a program comes first, not 'x.yaml'; lab.load"),
        (lambda _: lab.faults_of(None), "lab.faults_of: a program comes first, not None"),
        (lambda _: lab.coverage_of("x", []), "lab.coverage_of: a program comes first"),
        (lambda flow: lab.coverage_of(flow, lab.play(flow)), "plays is a list of plays or logs"),
        (lambda flow: lab.coverage_of(flow, [3]), "each of plays is what lab.play gave"),
        (lambda flow: lab.coverage_of(flow, [[]]), "each of plays is what lab.play gave"),
        (lambda flow: lab.record(flow, []), "there is no log to record"),
        (lambda flow: lab.record(flow, [[]]), "there is no log to record"),
    ],
)
def test_what_is_no_program_play_or_log_is_refused(
    flow: lab.Program, call: Callable[[lab.Program], object], told: str
) -> None:
    with pytest.raises(lab.ConfigError, match=re.escape(told)):
        call(flow)


def test_a_long_timeline_is_cut_in_the_message() -> None:
    text = "workflow: [{step: a, loop: {in: '{{ range(300) }}', iterator: i}, tool: {kind: noop}}]"
    played = lab.play(lab.load_text(text, "a.yaml"))
    with pytest.raises(AssertionError, match=r"… \d+ more lines") as caught:
        played.expect(status="failed")
    assert len(str(caught.value).splitlines()) < 220


# --- scenario files ------------------------------------------------------------------------------


def test_a_scenario_file_is_played_on_the_document_beside_it(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    file = tmp_path / "flow.down.scenario.yaml"
    file.write_text("outcomes: {call: {error: {kind: auth}}}\nexpect: {status: failed}\n")
    played = lab.play_scenario(file)
    assert played.visits == ["fetch", "clean"]
    assert [failure.what for failure in played.failures] == ["status"]
    with pytest.raises(AssertionError, match=r"flow\.down\.scenario\.yaml: 1 expectation is not"):
        played.expect()
    file.write_text("outcomes: {call: {error: {kind: auth}}}\nexpect: {status: done}\n")
    assert lab.play_scenario(file).expect(handled=["fetch"]).failures == ()


def test_a_scenario_file_names_its_document_and_dialect(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "page.dot").write_text(GRAPH, encoding="utf-8")
    file = tmp_path / "sub/any.scenario.yaml"
    file.write_text("document: ../page.dot\ndialect: docs\noutcomes: {gate: {answer: Y}}\n")
    assert lab.play_scenario(file).status == "done"
    file.write_text("outcomes: {gate: {answer: Y}}\n")
    with pytest.raises(lab.ConfigError, match="no document next to it"):
        lab.play_scenario(file)
    (tmp_path / "sub/any.dot").write_text(GRAPH, encoding="utf-8")
    (tmp_path / "sub/any.yaml").write_text(FLOW, encoding="utf-8")
    with pytest.raises(lab.ConfigError, match=r"may be .*any\.yaml and .*any\.dot"):
        lab.play_scenario(file)


def test_the_timeline_beside_a_scenario_is_expected_too(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    file, golden = tmp_path / "flow.scenario.yaml", tmp_path / "flow.timeline.txt"
    file.write_text("{}\n")
    golden.write_text(lab.play_scenario(file).timeline, encoding="utf-8")
    lab.play_scenario(file).expect()
    golden.write_text("nothing happened\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="timeline"):
        lab.play_scenario(file).expect()


# --- studies -------------------------------------------------------------------------------------


def test_coverage_says_what_no_play_has_exercised(flow: lab.Program) -> None:
    well, refused = lab.play(flow), lab.play(flow, outcomes={"call": lab.error("auth")})
    some = lab.coverage_of(flow, [well])
    assert "rule 2 of call" in [point.what for point in some.uncovered]
    more = lab.coverage_of(flow, [well, refused.log])
    assert more.covered > some.covered
    assert [point.what for point in more.uncovered] == ["rule 1 of call"]
    assert more.report() == {
        "percent": more.percent,
        "covered": more.covered,
        "points": more.points,
        "uncovered": [
            {
                "kind": "rule",
                "line": 12,
                "column": 17,
                "what": "rule 1 of call",
                "lack": "never matched",
            }
        ],
    }


@pytest.mark.parametrize(("text", "file"), [(FLOW, "flow.yaml"), (GRAPH, "page.dot")])
def test_a_play_of_another_document_covers_nothing(text: str, file: str) -> None:
    flow, edited = lab.load_text(text, file), lab.load_text(f"{text}\n", file)
    assert lab.coverage_of(flow, [lab.play(lab.load_text(text, f"other_{file}"))]).covered > 0
    for play in (lab.play(edited), lab.play(edited).log):
        with pytest.raises(lab.ConfigError, match="a log is of another document"):
            lab.coverage_of(flow, [play])


def test_a_play_in_another_dialect_covers_nothing() -> None:
    text = "digraph g { start a exit start -> a -> exit }"
    spec, docs = (lab.load_text(text, "g.dot", dialect=word) for word in ("spec", "docs"))
    with pytest.raises(lab.ConfigError, match="a log is of another document"):
        lab.coverage_of(spec, [lab.play(docs)])


@pytest.mark.parametrize(("text", "file"), [(FLOW, "flow.yaml"), (GRAPH, "page.dot")])
def test_a_play_can_be_replayed_and_recorded(text: str, file: str) -> None:
    flow = lab.load_text(text, file)
    outcomes = {
        "call": [lab.error("timeout", times=2, takes=3), lab.ok({"data": 1})],
        "draft": [lab.error("timeout"), lab.status("SUCCESS")],
        "gate": lab.answer("Y", takes=60),
    }
    known = {key: value for key, value in outcomes.items() if key in FLOW + GRAPH and key in text}
    played = lab.play(flow, outcomes=known, random={"seed": 5})
    again = lab.replayed(flow, played.log)
    assert again.difference is None
    assert again.events == len(played.log)
    told = again.report()
    assert (told["is_equal"], told["difference"]) == (True, None)
    assert (told["events"], told["decisions"]) == (len(played.log), again.decisions)
    cut = lab.replayed(flow, played.log[:-2]).report()
    assert cut["is_equal"] is False
    assert json.loads(json.dumps(cut))["difference"]["seq"] == len(played.log) - 1
    recorded = lab.record(flow, played.runs)
    assert recorded.is_true
    assert recorded.report()["scenario"] == recorded.scenario
    assert recorded.report()["difference"] is None
    said = {
        key: recorded.scenario[key] for key in ("outcomes", "random") if key in recorded.scenario
    }
    twin = lab.play(flow, **said).expect(**recorded.scenario["expect"])
    assert twin.timeline == played.timeline


def test_the_worst_case_is_that_of_the_document(flow: lab.Program) -> None:
    bounds = lab.bounds_of(flow)
    dead = lab.play(flow, outcomes={"call": lab.error("timeout")}, random=1)
    calls = next(task for task in bounds.tasks if task.task == "call")
    assert calls.in_run.at_most == dead.attempts["call"] == 4
    assert bounds.waits.at_most == sum(dead.delays)


def test_another_policy_is_tried_on_past_plays(flow: lab.Program) -> None:
    outcomes = {"call": [lab.error("timeout", times=2), lab.ok()]}
    past = [lab.play(flow, outcomes=outcomes), lab.play(flow)]
    hasty = lab.load_text(FLOW.replace("attempts: 4", "attempts: 2"), "hasty.yaml")
    assert lab.what_if(flow, past).report()["broken"]["certain"] == []
    assert lab.what_if(hasty, past).report()["broken"]["certain"] == ["1"]


def test_faults_are_the_same_for_the_same_seed(flow: lab.Program) -> None:
    first = lab.faults_of(flow, faults="kill=0.5,429", runs=30, seed=4)
    again = lab.faults_of(flow, faults="kill=0.5,429", runs=30, seed=4)
    assert first.report() == again.report()
    assert first.report()["injected"]["kill"] > 0
    assert first.holds
    never = lab.faults_of(flow, runs=30, faults="429=0.9", invariants=["delays | length == 0"])
    assert not never.holds


# --- the module ----------------------------------------------------------------------------------


def test_every_name_is_there_and_documented() -> None:
    page = (ROOT / "docs/lab/python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`(?:lab\.)?(\w+)", page))
    assert [name for name in lab.__all__ if not hasattr(lab, name)] == []
    assert [name for name in lab.__all__ if name not in words] == []
    assert set(lab.__all__) <= set(dir(lab))
    with pytest.raises(AttributeError, match="nothing"):
        lab.nothing  # noqa: B018


def test_everything_a_play_tells_is_documented() -> None:
    page = (ROOT / "docs/lab/python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`(\w+)", page))
    told = {name for name in vars(python_api.Played) if not name.startswith("_")}
    assert told - words == {"simulation", "name", "program", "failures"}


def test_no_name_hides_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(lab.__path__)}
    assert modules.isdisjoint(lab.__all__)
    assert script is importlib.import_module("anew.lab.script")
    assert simulate is importlib.import_module("anew.lab.simulate")


def test_to_import_it_costs_next_to_nothing() -> None:
    code = (
        "import sys; from anew import lab; print([m for m in sys.modules if m.startswith('anew.')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "['anew.lab']"


def test_type_checkers_are_told_that_there_are_types() -> None:
    assert (Path(anew.__file__).parent / "py.typed").exists()
