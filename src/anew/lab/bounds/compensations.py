"""What undoing costs at most: every visit that can end well is undone once, one after the other.

Added to the worst of all runs, because the run that fails last has the most to undo.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.lab.bounds.amounts import ZERO, Bound
from anew.lab.bounds.analysis_inputs import SHARED, TIME
from anew.lab.bounds.token_walk import PathVisit, Walked, visits_of, within
from anew.lab.bounds.visits import StepAnalysis
from anew.program.program import Program


def with_compensations(
    program: Program,
    analyses: dict[str, StepAnalysis],
    walked: Walked,
    visits: dict[str, Bound],
) -> Walked:
    """The walk, and the visits that undo what it did; `visits` gets those as well."""
    most, path = dict(walked.most), list(walked.path)
    for name, times in list(_undone(program, analyses, visits)):
        analysis = analyses[name].visit()
        visits[name] = most[visits_of(name)] = times
        worst: dict[str, Bound] = {}
        for sort in {sort for cost in analysis.endings.values() for sort in cost}:
            once = worst[sort] = analysis.worst(sort)
            key = sort if sort in SHARED else within(name, sort)
            most[key] = most.get(key, ZERO) + once * times
        slowest = max(analysis.endings, key=lambda one: analysis.endings[one][TIME].at_most)
        again = "compensation" if times.at_most > 1 else ""
        path.append(PathVisit(name, slowest, worst, again=again))
    return Walked(most, tuple(path))


def _undone(
    program: Program, analyses: dict[str, StepAnalysis], visits: dict[str, Bound]
) -> Iterator[tuple[str, Bound]]:
    """The compensations of what is visited, each with how often it is at most needed."""
    for step in reversed(list(program.steps.values())):
        if step.compensation is not None and step.name in visits:
            yield step.compensation, visits[step.name] * analyses[step.name].visit().items
