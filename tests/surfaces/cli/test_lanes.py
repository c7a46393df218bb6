"""How lanes are drawn: in any width, in any encoding, whatever the names are."""

from __future__ import annotations

import io

import pytest

from anew.surfaces.cli.columns import can_show, fit, wide
from anew.surfaces.cli.lanes import LANES_MAX, lane_lines, lane_lines_for
from anew.views.lanes import lanes_of
from tests.surfaces.cli.recorded import DOWN, HOSTILE, RETRIES, hostile, played
from tests.views.graphs import ENDS, FINAL
from tests.views.graphs import drawn as graph

LOOP = """
workflow:
  - step: each
    loop: {in: "{{ range(400)|list }}", iterator: n, spec: {mode: parallel, max_in_flight: 9}}
    tool: {kind: noop}
"""
RELAYED = f"""digraph choice {{ {ENDS} a; c [shape=diamond]; f; s->a->c;
    c->x [condition="status == 'SUCCESS'"]; c->f [condition="status == 'FAILURE'"]; f->x }}"""


def plain(colour: str, text: str) -> str:
    return text


def marked(colour: str, text: str) -> str:
    return f"<{colour}>{text}</>"


def drawn(run, columns: int = 80, *, paint=plain, is_unicode: bool = True) -> list[str]:
    lanes = lanes_of(run.program, run.log, now=run.log[-1].at)
    return list(lane_lines(lanes, columns=columns, paint=paint, is_unicode=is_unicode))


def twice():
    outcomes = [{**DOWN, "takes": 1, "times": 2}, {"result": 1, "takes": 3}]
    return played(RETRIES, outcomes={"page": outcomes})


def test_the_drawing_of_two_retries() -> None:
    assert drawn(twice(), 60) == [
        "fetch ████✗░░░░░░░░░█████✗░░░░░░░░███████████████  done · 3×",
        "store                                           █  done",
        "      0 s      2 s       4 s      6 s       8 s",
        "      ░ retry delay   █ attempt   ✗ error",
    ]


@pytest.mark.parametrize("columns", [60, 61, 80, 133, 200])
@pytest.mark.parametrize("is_unicode", [True, False])
def test_no_line_is_wider_than_asked(columns: int, is_unicode: bool) -> None:
    for run in (twice(), hostile(), played(LOOP, outcomes={"each": [{"result": 1, "takes": 1}]})):
        for line in drawn(run, columns, is_unicode=is_unicode):
            assert wide(line) <= columns


def test_plain_characters_where_the_stream_has_no_others() -> None:
    lines = drawn(twice(), 60, is_unicode=False)
    assert all(line.isascii() for line in lines)
    assert "x---------#" in lines[0]


def test_the_stream_decides_by_its_encoding() -> None:
    run = twice()
    lanes = lanes_of(run.program, run.log, now=run.log[-1].at)
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    broad = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert not can_show(narrow, "█")
    assert "\n".join(lane_lines_for(narrow, lanes)).isascii()
    assert "█" in lane_lines_for(broad, lanes)[0]


def test_hostile_names_stay_in_their_column() -> None:
    line = drawn(hostile())[0]
    assert "\x1b" not in line
    assert "\n" not in line
    assert line.startswith("a�[2J�b漢字 █")


def test_colours_mark_errors_and_waits() -> None:
    line = drawn(twice(), paint=marked)[0]
    assert "<red>" in line
    assert "<yellow>░" in line
    assert line.endswith("<green>done · 3×</>")


def test_a_loop_is_drawn_as_its_density() -> None:
    lines = drawn(played(LOOP, outcomes={"each": [{"result": 1, "takes": 1}]}))
    assert "████████" in lines[0]
    assert lines[0].endswith("done · 400/400")
    assert "iterations running" in lines[-1]


def test_a_program_of_many_steps_is_cut_and_says_so() -> None:
    steps = [f"  - step: s{n}\n    next: [s{n + 1}]" for n in range(LANES_MAX + 4)]
    run = played("workflow:\n" + "\n".join([*steps, f"  - step: s{LANES_MAX + 4}"]))
    assert any(line.endswith("and 5 more steps") for line in drawn(run))


@pytest.mark.parametrize("columns", range(1, 14))
def test_a_text_is_made_exactly_as_wide_as_its_column(columns: int) -> None:
    assert wide(fit(HOSTILE, columns)) == columns


def test_a_diamond_that_passes_a_failure_on_has_no_mark_of_its_own() -> None:
    run = graph(RELAYED, outcomes={"a": [{**FINAL, "takes": 3}], "f": [{"takes": 3}]})
    lane = next(line for line in drawn(run) if line.startswith("c "))
    assert lane.endswith("passes on a failure")
    assert "✗" not in lane
