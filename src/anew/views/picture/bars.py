"""The lanes of a run as rows, and few enough of them: a picture is sent again and again.

Where there are too many bars, the lanes that have most of them show a density instead; where there
are too many lanes, those that need nobody's attention are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.statuses import StepStatus
from anew.views.graph_rows import LoopShown
from anew.views.lanes import Bar, Lane, Lanes, density_of
from anew.views.picture.shown import BarShown, DensityShown, LaneShown, LanesShown
from anew.views.slices import SLICES, Density

LANES_SHOWN_MAX = 400
BARS_SHOWN_MAX = 1_500
# Each has hundreds of numbers; a lane beyond has its last bars instead.
DENSITIES_SHOWN_MAX = 40
# Digits of a second, and of how many were at work: finer than a page can draw.
_SECOND_DIGITS = 4
_COUNT_DIGITS = 2
_QUIET = frozenset({StepStatus.DONE, StepStatus.SKIPPED})


def lanes_shown(lanes: Lanes) -> LanesShown:
    """The rows of lanes that `views.lanes` drew."""
    shown = _chosen(lanes.lanes)
    bars_max, crowded = _allowance(shown)
    rows = [_lane(lanes, lane, bars_max, has_density=lane.step in crowded) for lane in shown]
    seconds = (lanes.end - lanes.begin) / NANOSECONDS
    return LanesShown(moment_text(lanes.begin), seconds, rows, len(lanes.lanes) - len(rows))


def _chosen(lanes: Sequence[Lane]) -> list[Lane]:
    """Those that are shown, in their order: of too many, what went well long ago is not."""
    if len(lanes) <= LANES_SHOWN_MAX:
        return list(lanes)
    numbered = sorted(enumerate(lanes), key=lambda one: (one[1].status in _QUIET, -one[0]))
    return [lane for _, lane in sorted(numbered[:LANES_SHOWN_MAX], key=lambda one: one[0])]


def _allowance(lanes: Sequence[Lane]) -> tuple[int, set[str]]:
    """How many bars a lane may have, and which lanes show a density."""
    by_size = sorted(lanes, key=lambda lane: (lane.density is None, -len(lane.bars)))
    total = sum(len(lane.bars) for lane in lanes)
    crowded: set[str] = set()
    for lane in by_size[:DENSITIES_SHOWN_MAX]:
        if lane.density is None and total <= BARS_SHOWN_MAX:
            break
        crowded.add(lane.step)
        total -= len(lane.bars)
    rest = max(1, len(lanes) - len(crowded))
    largest = max((len(one.bars) for one in lanes if one.step not in crowded), default=0)
    return (largest if total <= BARS_SHOWN_MAX else BARS_SHOWN_MAX // rest), crowded


def _lane(lanes: Lanes, lane: Lane, bars_max: int, *, has_density: bool) -> LaneShown:
    density = lane.density
    if has_density and density is None:
        density = density_of(lane.bars, lanes.begin, lanes.end)
    bars = () if has_density else lane.bars[-bars_max:] if bars_max else ()
    return LaneShown(
        step=lane.step,
        status=lane.status.value,
        visits=lane.visits,
        attempts=lane.attempts,
        bars=[_bar(bar, lanes.begin) for bar in bars],
        density=_density(density, lanes.end) if has_density and density is not None else None,
        loop=None if lane.total is None else LoopShown(lane.total, lane.done, lane.failed),
        depth=lane.depth,
    )


def _bar(bar: Bar, begin: int) -> BarShown:
    return BarShown(
        begin=_seconds(bar.begin - begin),
        end=_seconds(bar.end - begin),
        kind=bar.kind.value,
        task=bar.task,
        attempt=bar.attempt,
        visit=bar.visit,
        is_open=bar.is_open,
    )


def _seconds(nanoseconds: int) -> float:
    return round(nanoseconds / NANOSECONDS, _SECOND_DIGITS)


def _density(density: Density, end: int) -> DensityShown:
    """Without the slices after the end."""
    used = min(SLICES, max(1, -(-(end - density.begin) // density.width)))
    return DensityShown(
        seconds=density.width / NANOSECONDS,
        working=[round(count, _COUNT_DIGITS) for count in density.work()[:used]],
        waiting=[round(count, _COUNT_DIGITS) for count in density.wait()[:used]],
        errors=density.errors[:used],
    )
