"""`anew timeline`: lines for files, lanes for eyes."""

from __future__ import annotations

import pytest

from anew.views.timeline import timeline_lines
from tests.surfaces.cli.recorded import DOWN, RETRIES, played


@pytest.fixture
def run(shelf):
    simulation = played(RETRIES, outcomes={"page": [DOWN, {"result": 1, "takes": 1}]})
    shelf.put(simulation)
    return simulation


def test_lines_are_the_golden_timeline(run, anew) -> None:
    first, *lines = anew("timeline", "last").lines
    assert first == "started 2000-01-01 00:00:00"  # on another day
    assert lines == list(timeline_lines(run.log))


def test_lanes_have_one_line_per_step_a_scale_and_a_legend(run, anew) -> None:
    lines = anew("timeline", "last", "--lanes").lines[1:]
    assert [line.split()[0] for line in lines[:2]] == ["fetch", "store"]
    assert lines[0].endswith("done · 2×")
    assert "✗░" in lines[0]
    assert lines[2].strip().startswith("0 s")
    assert "retry delay" in lines[3]
