"""Plots are pictures that a browser can draw."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.report.plots import bars, lines

SVG = "{http://www.w3.org/2000/svg}"


def test_there_is_a_bar_for_each_side_as_long_as_its_median() -> None:
    drawn = ElementTree.fromstring(
        bars("Steps", "steps/s", {"Anew": (100, 90, 110), "DBOS <3>": (50, 40, 60)})
    )
    widths = {
        one.get("class"): float(one.get("width") or 0)
        for one in drawn.iter(f"{SVG}rect")
        if one.get("class") in ("ours", "theirs")
    }
    assert widths["ours"] == pytest.approx(2 * widths["theirs"], abs=0.2)
    assert "DBOS <3>" in [one.text for one in drawn.iter(f"{SVG}text")]


def test_everything_is_on_the_picture() -> None:
    values = {f"side {n}": (10.0**n, 0.0, 2 * 10.0**n) for n in range(6)}
    drawn = ElementTree.fromstring(bars("Steps", "steps/s", values))
    _, _, width, height = map(float, (drawn.get("viewBox") or "").split())
    for one in drawn.iter(f"{SVG}rect"):
        assert float(one.get("x") or 0) + float(one.get("width") or 0) <= width
        assert float(one.get("y") or 0) + float(one.get("height") or 0) <= height


@pytest.mark.parametrize("log_x", [True, False])
def test_there_is_a_point_for_each_value(log_x: bool) -> None:
    series = {"a": [(0, 1.0), (1_000, 2.0), (1_000_000, 3.0)], "b": [(0, 3.0), (1_000, 3.0)]}
    drawn = ElementTree.fromstring(lines("Growth", "jobs", "µs", series, log_x=log_x))
    assert len(list(drawn.iter(f"{SVG}circle"))) == 5
    places = [float(one.get("cx") or 0) for one in drawn.iter(f"{SVG}circle")]
    assert places[:3] == sorted(places[:3])
    assert len(list(drawn.iter(f"{SVG}polyline"))) == 2


@pytest.mark.parametrize("series", [{}, {"a": []}, {"a": [(1, 0.0)]}])
def test_little_can_be_drawn_too(series: dict[str, list[tuple[float, float]]]) -> None:
    drawn = ElementTree.fromstring(lines("Growth", "jobs", "µs", series))
    assert len(list(drawn.iter(f"{SVG}circle"))) == sum(map(len, series.values()))
    nothing = ElementTree.fromstring(bars("Nothing", "s", {}))
    assert "Nothing" in ElementTree.tostring(nothing, encoding="unicode")
