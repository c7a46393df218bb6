"""`anew test`: what it finds, plays, prints, writes and exits with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anew.surfaces.cli import testing
from tests.surfaces.cli.conftest import Told

FLOW = """\
workflow:
  - step: fetch
    tool:
      - page:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, delay: 1}
                - else: {then: {do: continue}}
    next:
      - {step: sorry, when: "{{ event.name == 'step.failed' }}"}
      - {step: store}
  - step: store
    tool: {kind: noop}
  - step: sorry
    tool: {kind: noop}
"""
GRAPH = """\
digraph g {
    start [shape=ellipse]
    a     [goal="x" max_retries=1]
    done  [shape=ellipse]
    start -> a -> done
}
"""
DOWN = "{error: {kind: server_error, message: down}}"
GOOD = "expect: {status: done, visits: [fetch, store]}\n"
BAD = f"outcomes: {{page: {DOWN}}}\nexpect: {{visits: [fetch, store], elapsed: 0}}\n"

Anew = Callable[..., Told]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a playbook and a graph."""
    here = tmp_path / "flows"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "flow.yaml").write_text(FLOW)
    (here / "graph.dot").write_text(GRAPH)
    return here


def write(**scenarios: str) -> None:
    for name, text in scenarios.items():
        Path(f"{name.replace('_', '.')}.scenario.yaml").write_text(text)


def test_scenarios_that_pass_are_counted(anew: Anew) -> None:
    write(flow=GOOD, flow_again=GOOD, graph="expect: {status: done}\n")
    told = anew("test")
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("3 passed in ")
    assert len(told.lines) == 1


def test_a_failed_one_says_what_was_expected_and_what_happened(anew: Anew) -> None:
    write(flow=GOOD, flow_down=BAD)
    told = anew("test")
    assert told.status == 1
    assert told.lines[:4] == [
        "FAILED flow.down.scenario.yaml",
        '  visits: expected ["fetch", "store"], found ["fetch", "sorry"]',
        "  elapsed: expected 0, found 2.0",
        "  what happened:",
    ]
    assert "1.000  fetch  task page started            attempt 2" in told.out
    assert told.lines[-1].startswith("1 passed, 1 failed in ")


def test_one_that_cannot_be_played_does_not_stop_the_others(anew: Anew, folder: Path) -> None:
    (folder / "twice.yaml").write_text(FLOW)
    (folder / "twice.dot").write_text(GRAPH)
    (folder / "wrong.yaml").write_text("workflow: [{step: a, next: b}]")
    write(flow=GOOD, lost=GOOD, twice=GOOD, wrong=GOOD, flow_typo="expect: {visit: []}")
    Path("flow.gone.scenario.yaml").write_text("document: other/none.yaml")
    told = anew("test")
    assert told.status == 2
    errors = [line for line in told.lines if line.startswith("ERROR")]
    assert errors == [
        f"ERROR flow.gone.scenario.yaml: its document {Path('other/none.yaml')} does not exist",
        "ERROR flow.typo.scenario.yaml: expect: unknown key 'visit'. Did you mean 'visits'?",
        "ERROR lost.scenario.yaml: there is no document next to it: lost.yaml or lost.yml or lost.dot"
        " or lost.gv; or say `document: PATH`",
        "ERROR twice.scenario.yaml: its document may be twice.yaml and twice.dot;"
        " say which with `document: PATH`",
        errors[-1],
    ]
    assert errors[-1].startswith(
        "ERROR wrong.scenario.yaml: its document has errors: wrong.yaml:1:"
    )
    assert told.lines[-1].startswith("1 passed, 5 not playable in ")


def test_a_scenario_may_say_its_document_and_dialect(anew: Anew, folder: Path) -> None:
    (folder / "in").mkdir()
    said = "document: ../graph.dot\ndialect: docs\nexpect: {dialect: docs, status: done}\n"
    (folder / "in/any.scenario.yml").write_text(said)
    (folder / "in/other.scenario.json").write_text('{"document": "../flow.yaml"}')
    told = anew("test", "-v")
    assert told.status == 0
    assert told.lines[:2] == [
        f"PASSED {Path('in/any.scenario.yml')}",
        f"PASSED {Path('in/other.scenario.json')} (no expectation)",
    ]


def test_paths_are_files_folders_or_documents(anew: Anew, folder: Path) -> None:
    for place in ("in", ".hidden", "node_modules", "in/.venv"):
        (folder / place).mkdir()
        (folder / place / "flow.yaml").write_text(FLOW)
        (folder / place / "flow.scenario.yaml").write_text(GOOD)
    write(flow=GOOD, flow_again=GOOD, graph="")
    assert anew("test").out.startswith("4 passed")
    assert anew("test", "in").out.startswith("1 passed")
    assert anew("test", "flow.yaml").out.startswith("2 passed")
    assert anew("test", "flow.scenario.yaml", ".", "flow.yaml").out.startswith("4 passed")
    assert anew("test", ".", str(folder), str(folder / "flow.yaml")).out.startswith("4 passed")


def test_a_document_stands_for_every_scenario_beside_it_that_plays_it(anew: Anew) -> None:
    write(flow=GOOD, smoke="document: flow.yaml\n" + GOOD, broken="document: [")
    write(flow_other="document: graph.dot\n", flow_bad="expect: [")
    Path("by.json.scenario.json").write_text('{"document": "./flow.yaml"}')
    told = anew("test", "-v", "flow.yaml")
    assert [line.split()[1].rstrip(":") for line in told.lines[:-1]] == [
        "by.json.scenario.json",
        "flow.bad.scenario.yaml:1:10",
        "flow.scenario.yaml",
        "smoke.scenario.yaml",
    ]


def test_a_pipe_is_not_waited_for(anew: Anew) -> None:
    os.mkfifo("pipe.scenario.yaml")
    told = anew("test", "pipe.scenario.yaml")
    assert (told.status, told.err) == (2, "anew: pipe.scenario.yaml is not a regular file\n")


def test_what_is_wrong_in_a_line_is_told_with_the_line_once(anew: Anew) -> None:
    write(
        flow="expect: {status: done}\nexpect: {}\n",
        graph="outcomes: {a: {result: [99999999999999999999]}}\n",
    )
    told = anew("test")
    assert told.status == 2
    assert told.lines[0].startswith("ERROR flow.scenario.yaml:2:1: ")
    assert told.lines[0].count("flow.scenario.yaml") == 1
    assert told.lines[1] == (
        "ERROR graph.scenario.yaml: outcomes.a.result[0] has a whole number over 64 bits"
    )


def test_invariants_are_an_expectation(anew: Anew) -> None:
    write(flow="invariants: [attempts.page == 1]\n", flow_bad="invariants: ['attempts.page ==']\n")
    told = anew("test", "-v")
    assert told.status == 2
    bad, well = told.lines[:2]
    assert bad.startswith(
        "ERROR flow.bad.scenario.yaml: the invariant 'attempts.page ==' cannot be evaluated: "
    )
    assert well == "PASSED flow.scenario.yaml"
    assert "written" not in anew("test", "flow.scenario.yaml", "--update").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        (["--watch", "nowhere"], "there is no file or folder nowhere"),
        (["notes.txt"], "notes.txt is neither a scenario nor a document"),
        (["flow.yaml"], "there is no scenario in flow.yaml"),
        (["-k", "zzz", "."], "none of the 1 scenarios has a name that fits -k"),
        (["-k", "a and", "."], "a part of a name is missing at the end"),
        (["-k", "(a", "."], "a `)` is missing"),
        (["--fail-under", "101", "."], "'101' is not a number from 0 to 100"),
        (["--fail-under", "nan", "."], "'nan' is not a number from 0 to 100"),
    ],
)
def test_what_cannot_be_asked_exits_with_2(anew: Anew, words: list[str], told: str) -> None:
    Path("notes.txt").write_text("")
    if words[-1] == ".":
        write(graph="")
    answer = anew("test", *words)
    assert answer.status == 2
    assert told in answer.err


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("flow", ["flow", "flow.slow"]),
        ("not flow", ["graph"]),
        ("FLOW and not slow", ["flow"]),
        ("slow or graph", ["flow.slow", "graph"]),
        ("not (slow or graph)", ["flow"]),
        ("not not slow", ["flow.slow"]),
    ],
)
def test_names_are_chosen_as_pytest_does(anew: Anew, expression: str, chosen: list[str]) -> None:
    write(flow="", flow_slow="", graph="")
    told = anew("test", "-v", "-k", expression)
    assert [line.split()[1] for line in told.lines[:-1]] == [
        f"{name}.scenario.yaml" for name in chosen
    ]


def test_x_stops_at_the_first_that_does_not_pass(anew: Anew) -> None:
    write(flow=GOOD, flow_a=BAD, flow_b=BAD)
    told = anew("test", "-x", "-q")
    assert told.status == 1
    assert told.lines[0] == "FAILED flow.a.scenario.yaml"
    assert told.lines[1].startswith("1 failed in ")


def test_doubts_about_a_script_are_told(anew: Anew) -> None:
    write(flow="outcomes: {pge: {}}\n")
    assert "flow.scenario.yaml: warning: outcomes.pge names no task or step." in anew("test").err
    assert anew("test", "-q").err == ""


def test_json_has_everything(anew: Anew) -> None:
    write(flow=GOOD, flow_down=BAD, lost="")
    told = anew("test", "--json", "--coverage")
    assert told.status == 2
    found = json.loads(told.out)
    assert [found[word] for word in ("passed", "failed", "bad")] == [1, 1, 1]
    down, well, lost = found["scenarios"]
    assert down["failures"][1] == {
        "what": "elapsed",
        "message": "elapsed: expected 0, found 2.0",
        "expected": 0,
        "found": 2.0,
    }
    assert (well["verdict"], well["document"], well["problem"]) == ("passed", "flow.yaml", None)
    assert (lost["verdict"], lost["document"]) == ("bad", None)
    flow, graph = found["coverage"]["files"]
    assert (flow["file"], flow["percent"], flow["uncovered"]) == ("flow.yaml", 100.0, [])
    assert (graph["percent"], graph["scenarios"]) == (0.0, 0)
    assert graph["uncovered"][0] == {
        "kind": "rule",
        "line": 3,
        "column": 33,
        "what": "the retries of a",
        "lack": "never matched",
    }


def test_junit_is_xml_whatever_names_and_messages_hold(anew: Anew) -> None:
    hostile = 'flow.<&"\x1b\x07]]>\udcff'
    try:
        Path(f"{hostile}.scenario.yaml").write_text(BAD)
    except OSError:
        hostile = 'flow.<&"\x1b\x07]]>'
        Path(f"{hostile}.scenario.yaml").write_text(BAD)
    write(flow=GOOD, lost='expect: {"\\u0001": 1}')
    assert anew("test", "--junit", "out.xml").status == 2
    root = ElementTree.fromstring(Path("out.xml").read_bytes())
    (suite,) = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    failed, passed, bad = suite
    assert failed.get("name") == 'flow.<&"]]>.scenario.yaml'
    assert failed.get("classname") == "flow.yaml"
    (failure,) = failed
    assert "visits: expected" in (failure.get("message") or "")
    assert "what happened" in (failure.text or "")
    assert len(passed) == 0
    assert "unknown key" in (bad[0].get("message") or "")


# --- golden timelines ---


def test_a_golden_timeline_is_compared_and_can_be_written_anew(anew: Anew) -> None:
    write(flow="", flow_down=f"outcomes: {{page: {DOWN}}}\n", graph=GOOD.replace("fetch", "a"))
    Path("graph.scenario.yaml").write_text("expect: {status: done}\n")
    told = anew("test", "--update")
    assert (told.status, told.lines[-1].split(" in ")[0]) == (0, "3 passed, 2 timelines written")
    golden = Path("flow.down.timeline.txt")
    assert golden.read_text() == simulated(anew)
    assert not Path("graph.timeline.txt").exists()
    assert anew("test").status == 0
    golden.write_text(golden.read_text().replace("attempt 2", "attempt 7"))
    told = anew("test")
    assert told.status == 1
    assert "    -    1.000  fetch  task page started            attempt 7" in told.lines
    assert "    +    1.000  fetch  task page started            attempt 2" in told.lines
    assert "1 timeline written" in anew("test", "--update").lines[-1]
    assert anew("test").status == 0
    assert "written" not in anew("test", "--update").lines[-1]


def simulated(anew: Anew) -> str:
    return anew("simulate", "flow.yaml", "--script", "flow.down.scenario.yaml").out


def test_update_does_not_hide_what_else_is_expected(anew: Anew) -> None:
    write(flow=BAD)
    Path("flow.timeline.txt").write_text("")
    assert anew("test", "--update").status == 1
    assert "fetch" in Path("flow.timeline.txt").read_text()


def test_a_long_difference_is_cut_with_a_hint(anew: Anew) -> None:
    write(flow="expect: {timeline: nothing}\n")
    long = FLOW.replace("attempts: 3", "attempts: 60")
    Path("flow.yaml").write_text(long)
    Path("flow.scenario.yaml").write_text(f"outcomes: {{page: {DOWN}}}\nexpect: {{timeline: no}}\n")
    short, whole = anew("test"), anew("test", "-v")
    assert "more lines; -v shows all of them" in short.out
    assert len(short.lines) < 50
    assert len(whole.lines) > 100


# --- coverage ---


def test_coverage_says_what_no_scenario_exercises(anew: Anew) -> None:
    write(flow=GOOD)
    told = anew("test", "--coverage")
    assert told.status == 0
    assert told.lines[:-1] == [
        "coverage",
        "  flow.yaml     2 of 4  50 %",
        "    flow.yaml:9:17: rule 1 of page never matched",
        "      9 |                 - when: \"{{ outcome.status == 'error' }}\"",
        "    flow.yaml:13:16: arc fetch -> sorry was never taken",
        "      13 |       - {step: sorry, when: \"{{ event.name == 'step.failed' }}\"}",
        "  graph.dot     0 of 3  0 %",
        "    no scenario plays it",
        "  total         2 of 7  28.5 %",
    ]


def test_a_document_that_is_read_in_several_ways_is_covered_by_all_of_them(anew: Anew) -> None:
    write(graph="dialect: docs\noutcomes: {a: {status: failure}}\n", graph_plain="")
    assert anew("test", "graph.dot", "--fail-under", "100").status == 0
    assert anew("test", "graph.dot", "-k", "plain", "--fail-under", "100").status == 1


def test_a_document_that_decides_nothing_has_no_share(anew: Anew) -> None:
    write(flow=GOOD, plain="")
    for name in ("plain.yaml", "unplayed.yaml"):
        Path(name).write_text("workflow: [{step: a, tool: {kind: noop}}]\n")
    told = anew("test", "--coverage")
    assert "  plain.yaml        0 of 0  decides nothing" in told.lines
    assert told.lines[-4:-2] == [
        "  unplayed.yaml     0 of 0  decides nothing",
        "    no scenario plays it",
    ]


def test_each_execution_is_counted_once(folder: Path) -> None:
    write(flow=GOOD, flow_again=GOOD)
    player = testing.ScenarioRunner(testing.TestOptions(coverage=True), testing.Documents())
    first = player.batch(["flow.scenario.yaml"]).coverage["flow.yaml"]
    second = player.batch(["flow.again.scenario.yaml"]).coverage["flow.yaml"]
    assert first == second
    assert max(first.plus(second).hits.values()) == 2


def test_fail_under_is_a_matter_of_all_documents(anew: Anew) -> None:
    write(flow=GOOD, flow_down=f"outcomes: {{page: {DOWN}}}\n")
    assert anew("test", "--fail-under", "57").status == 0
    told = anew("test", "--fail-under", "57.2")
    assert told.status == 1
    assert told.lines[-1] == "coverage is 57.1 %, less than 57.2 %"
    assert anew("test", "flow.yaml", "--fail-under", "100").status == 0
    assert anew("test", "flow.yaml", "-k", "not down", "--fail-under", "100").status == 1


def test_what_is_no_document_is_not_counted(anew: Anew) -> None:
    write(flow=GOOD)
    Path("compose.yaml").write_text("services: {}\n")
    Path("wrong.yaml").write_text("workflow: [{step: a, next: b}]\n")
    told = anew("test", "--coverage")
    assert "compose" not in told.out + told.err
    assert told.err == "wrong.yaml: warning: not counted: it has errors, see `anew check`\n"
    assert told.status == 0


def test_how_much_is_covered_cannot_be_told_where_a_document_is_broken(anew: Anew) -> None:
    write(flow=GOOD)
    Path("wrong.yaml").write_text("workflow: [{step: a, next: b}]\n")
    told = anew("test", "--fail-under", "1")
    assert told.status == 2
    assert told.lines[-1] == "documents that have errors: 1; coverage cannot be computed"
    told = anew("test", "--fail-under", "1", "--json")
    assert told.status == 2
    assert json.loads(told.out)["coverage"]["broken"] == ["wrong.yaml"]
    assert anew("test", "flow.yaml", "--fail-under", "1").status == 0


def test_the_page_is_written_as_a_file_or_into_a_folder(anew: Anew) -> None:
    write(flow=GOOD)
    assert anew("test", "--coverage-html", "cover.html").status == 0
    assert anew("test", "--coverage-html", "cover/").status == 0
    assert Path("cover.html").read_text() == Path("cover/index.html").read_text()
    assert "rule 1 of page never matched" in Path("cover.html").read_text()


def test_what_cannot_be_written_is_told(anew: Anew) -> None:
    write(flow=GOOD)
    told = anew("test", "--junit", "no/such/folder.xml")
    assert told.status == 2
    assert "cannot write no/such/folder.xml" in told.err


# --- several processes ---


def test_processes_give_what_one_gives(anew: Anew, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        write(**{f"flow_n{number}": BAD if number == 5 else GOOD, f"graph_n{number}": ""})
    here = anew("test", "-j", "1", "--coverage", "--json")
    monkeypatch.setattr(testing, "PROCESS_SECONDS", 1e-9)
    monkeypatch.setattr(testing, "_BATCH", 3)
    started = []
    elsewhere = testing._elsewhere
    monkeypatch.setattr(
        testing, "_elsewhere", lambda *words: started.append(words[-1]) or elsewhere(*words)
    )
    there = anew("test", "-j", "2", "--coverage", "--json")
    assert started == [2]
    assert untimed(there) == untimed(here)
    stopped = anew("test", "-j", "2", "-x")
    assert stopped.lines[-1].startswith("5 passed, 1 failed in ")


def untimed(told: Told) -> object:
    found = json.loads(told.out)
    del found["seconds"]
    for row in found["scenarios"]:
        del row["seconds"]
    return found
