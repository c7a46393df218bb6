"""`anew bounds`: what it prints, draws, and exits with."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anew.surfaces.cli.main import main

PARENT = """
workflow:
  - step: pay
    loop: {in: "{{ ctx.orders }}", iterator: it}
    tool:
      - each:
          kind: playbook
          file: child.yaml
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, delay: 1}
    next: {arcs: [{step: "tell <all>"}]}
  - step: tell <all>
    tool: {kind: noop}
"""
CHILD = """
workflow:
  - step: send
    tool:
      - post:
          kind: http
          url: https://bank.example/pay
          method: POST
          spec:
            timeout: 2
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 5, delay: 2}
"""
GRAPH = """digraph g {
  max_visits=2
  start [shape=ellipse] done [shape=ellipse]
  make [shape=component tool_command="make all" timeout=60s retry_target=start]
  start -> make -> done
}"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "parent.yaml").write_text(PARENT)
    (tmp_path / "child.yaml").write_text(CHILD)
    (tmp_path / "g.dot").write_text(GRAPH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["bounds", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("folder")
def test_the_child_beside_the_document_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "parent.yaml", "--items", "2")
    assert found["executions"] == {"bounded": True, "at_most": 6 + 30 + 1}
    assert found["waits_seconds"] == {"bounded": True, "at_most": 2 * (3 * 8 + 2)}
    assert [one["name"] for one in found["dependencies"]] == ["bank.example", "child.yaml"]
    assert [one["ends"] for one in found["assumed"]] == [None]


@pytest.mark.usefixtures("folder")
def test_text_names_what_is_open_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bounds", "parent.yaml"]) == 0
    out = capsys.readouterr().out
    assert "parent.yaml:4:5: a loop over data" in out
    assert "it ends with limits.loop_iterations, 10,000,000" in out
    assert "child > send.post" in out
    assert "warning bounds.retry-amplification" in out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["parent.yaml"], 0),
        (["parent.yaml", "--fail-on", "unbounded"], 1),
        (["parent.yaml", "--items", "2", "--fail-on", "unbounded"], 0),
        (["parent.yaml", "--items", "2", "--fail-on", "warning"], 1),
        (["g.dot", "--fail-on", "unbounded", "--fail-on", "warning"], 0),
    ],
)
def test_the_exit_status_is_1_only_where_it_is_asked_for(words: list[str], status: int) -> None:
    assert main(["bounds", *words]) == status


def test_a_picture_marks_what_is_open_by_more_than_colour(folder: Path) -> None:
    assert main(["bounds", "parent.yaml", "--svg", "open.svg"]) == 0
    assert main(["bounds", "g.dot", "--svg", "bounded.svg"]) == 0
    drawn = ElementTree.parse(folder / "open.svg").getroot()
    texts = ["".join(part.itertext()) for part in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "∞" in texts
    assert "tell <all>" in texts
    rects = list(drawn.iter("{http://www.w3.org/2000/svg}rect"))
    assert [("stroke-dasharray" in rect.attrib) for rect in rects] == [True, False]
    assert {rect.attrib["stroke-width"] for rect in rects} == {"3"}
    bounded = ElementTree.parse(folder / "bounded.svg").getroot()
    rects = list(bounded.iter("{http://www.w3.org/2000/svg}rect"))
    assert not any("stroke-dasharray" in rect.attrib for rect in rects)


def test_a_picture_tells_the_headline_and_draws_the_way_of_a_failure(folder: Path) -> None:
    graph = GRAPH.replace("max_visits=2", "max_visits=2 fallback=sorry").replace(
        "start -> make", 'sorry [shape=component tool_command="mail" timeout=60s]\n  start -> make'
    )
    (folder / "fallback.dot").write_text(graph.replace(" retry_target=start", ""))
    assert main(["bounds", "fallback.dot", "--svg", "fallback.svg"]) == 0
    drawn = ElementTree.parse(folder / "fallback.svg").getroot()
    texts = ["".join(part.itertext()) for part in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "g: at most 2 executions, 0 s in waits, 2 m in all" in texts
    assert "run: 1 executions" in texts
    assert "one visit: 0 s waits, 1 m in all" in texts
    arrows = [
        path.attrib
        for path in drawn.iter("{http://www.w3.org/2000/svg}path")
        if path.attrib.get("marker-end") == "url(#path)"
    ]
    assert ["stroke-dasharray" in arrow for arrow in arrows] == [False, True]


@pytest.mark.usefixtures("folder")
def test_a_picture_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bounds", "g.dot", "--svg", "-"]) == 2
    assert "--svg needs the name of a file" in capsys.readouterr().err


def test_labels_of_arcs_do_not_stand_on_each_other(folder: Path) -> None:
    arcs = ", ".join(f"{{step: b, when: '{{{{ ctx.number_{at} }}}}'}}" for at in range(4))
    (folder / "arcs.yaml").write_text(
        f"workflow: [{{step: a, next: {{arcs: [{arcs}]}}}}, {{step: b}}]"
    )
    assert main(["bounds", "arcs.yaml", "--svg", "arcs.svg"]) == 0
    drawn = ElementTree.parse(folder / "arcs.svg").getroot()
    labels = [
        float(part.attrib["y"])
        for part in drawn.iter("{http://www.w3.org/2000/svg}text")
        if "number_" in (part.text or "")
    ]
    assert len(labels) == 4
    assert all(later - earlier >= 12 for earlier, later in pairwise(sorted(labels)))


@pytest.mark.usefixtures("folder")
def test_the_text_says_what_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    Path("poll.yaml").write_text(
        "workflow: [{step: ask, tool: {kind: sleep, seconds: 1}, next: {arcs: [{step: ask, when: "
        "'{{ ctx.again }}'}]}}]"
    )
    assert main(["bounds", "poll.yaml"]) == 0
    assert "  … this step, again and again" in capsys.readouterr().out


def test_a_document_with_errors_exits_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.yaml").write_text("workflow: [{step: a, next: [{step: b}]}]")
    assert main(["bounds", "bad.yaml"]) == 2
    assert "'b'" in capsys.readouterr().err


def test_a_child_with_errors_leaves_its_part_open(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "child.yaml").write_text("workflow: []")
    found = report(capsys, "parent.yaml", "--items", "1")
    [reason] = found["unbounded"]
    assert reason["rule"] == "child"
    assert "anew check" in reason["what"]


def test_values_of_the_command_line_change_the_workload(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "loop.yaml").write_text(
        "workload: {n: [1, 2]}\nworkflow:\n"
        '  - {step: a, loop: {in: "{{ workload.n }}", iterator: i}, tool: {kind: noop}}\n'
    )
    assert report(capsys, "loop.yaml")["executions"] == {"bounded": True, "at_most": 2}
    more = report(capsys, "loop.yaml", "--set", "n=[1, 2, 3]")
    assert more["executions"] == {"bounded": True, "at_most": 3}
