"""Put the parts together: from one program to its bounds, those of its children included."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from anew.lab.bounds.amounts import ZERO, Bound, BoundReason
from anew.lab.bounds.analysis_inputs import (
    ALL,
    TIME,
    WAITS,
    AnalysisInput,
    Child,
    ChildCall,
    Resolver,
)
from anew.lab.bounds.dependencies import dependencies_of
from anew.lab.bounds.report import Bounds
from anew.lab.bounds.rows import BoundRows
from anew.lab.bounds.runs import Runs
from anew.lab.bounds.static_values import UNKNOWN, Workload
from anew.lab.bounds.visits import StepAnalysis
from anew.lab.bounds.warnings import warnings_of
from anew.lab.cancellation import CancelCheck, never_cancelled
from anew.program.program import Program
from anew.runtime.child_tool import DEPTH_MAX
from anew.values import Object, merge_deep

# Children that call each other in many ways are followed so often in all.
ANALYSES_MAX = 1_000


def unknown_child(_program: Program, _inputs: Object) -> Child:
    """A resolver that finds nothing."""
    return Child(None, "its document is not at hand")


def bounds_of(
    program: Program,
    *,
    workload: Object | None = None,
    items: int | None = None,
    child: Resolver = unknown_child,
    cancel_check: CancelCheck = never_cancelled,
) -> Bounds:
    """The worst case of a program from the document alone.

    `workload` is laid over the program's own. A list that only a run knows is assumed to have
    `items` items, or is unbounded without. `child` finds the programs that tasks call.
    `cancel_check` is asked all the while, and ends the analysis by raising AnalysisCancelled.
    """
    given = Workload(merge_deep(program.workload, workload or {}))
    return _Families(items, child, cancel_check).bounds(program, given, ())


class _Families(Struct):
    """Analyses programs and those they call, each once with a workload it is given.

    What is cut short, by a child that calls one above it, is `known` only below the same ones;
    `cuts` counts what was.
    """

    items: int | None
    resolve: Resolver
    cancel_check: CancelCheck
    known: dict[tuple[str, ...], Bounds] = field(default_factory=dict)
    analyses: int = 0
    cuts: int = 0

    def bounds(self, program: Program, workload: Workload, above: tuple[str, ...]) -> Bounds:
        key = (program.span.file, program.digest, repr(workload))
        found = self.known.get(key) or self.known.get((*key, *above))
        if found is None:
            before = self.cuts
            found = self._analysed(program, workload, above)
            self.known[key if self.cuts == before else (*key, *above)] = found
        return found

    def _analysed(self, program: Program, workload: Workload, above: tuple[str, ...]) -> Bounds:
        self.analyses += 1
        children: dict[str, Bounds | str] = {}

        def find(call: ChildCall) -> Bounds | str:
            place = str(call.place)
            if place not in children:
                children[place] = self._find(call, given, (*above, program.digest))
            return children[place]

        given = AnalysisInput(program, workload, self.items, find, self.cancel_check)
        return _bounds(given, children)

    def _find(self, call: ChildCall, given: AnalysisInput, above: tuple[str, ...]) -> Bounds | str:
        found = self.resolve(given.program, call.inputs)
        if found.program is None:
            return found.why
        why = self._cut(found.program, above)
        if why is not None:
            self.cuts += 1
            return why
        return self.bounds(found.program, _workload_of(found.program, call.inputs), above)

    def _cut(self, program: Program, above: tuple[str, ...]) -> str | None:
        if program.digest in above:
            return f"it calls itself, up to {DEPTH_MAX} deep (child depth)"
        if len(above) > DEPTH_MAX:
            return f"child runs are nested more than {DEPTH_MAX} deep, the limit (child depth)"
        if self.analyses >= ANALYSES_MAX:
            return f"more than {ANALYSES_MAX:,} child programs are called here"
        return None


def _workload_of(program: Program, inputs: Object) -> Workload:
    """What is known of a child's workload: its own, with the arguments of the call laid over."""
    args = inputs.get("args")
    if args is None:
        return Workload(program.workload)
    if not isinstance(args, dict):
        return Workload(program.workload, is_open=True)
    known = {key: value for key, value in args.items() if value is not UNKNOWN}
    return Workload(merge_deep(program.workload, known), frozenset(args.keys() - known.keys()))


def _bounds(given: AnalysisInput, children: dict[str, Bounds | str]) -> Bounds:
    given.cancel_check()
    analyses = {step.name: StepAnalysis(given, step) for step in given.program.steps.values()}
    counted = Runs(given, analyses).count()
    rows = BoundRows(given, analyses, counted, children)
    nested, most = rows.nested(), counted.walked.most
    waits, time = most.get(WAITS, ZERO), most.get(TIME, ZERO)
    open_parts = [waits, time, *(row.in_run for row in (*rows.tasks, *nested))]
    open_parts += [bound for row in rows.steps for bound in (row.visits, row.waits, row.time)]
    assumed = [analyses[name].visit().assumed for name in counted.visits]
    assumed += [found.assumed for found in children.values() if isinstance(found, Bounds)]
    return Bounds(
        name=given.program.name,
        executions=most.get(ALL, ZERO),
        waits=waits,
        time=time,
        tasks=tuple(rows.shown),
        nested=tuple(nested),
        steps=tuple(rows.steps),
        dependencies=dependencies_of(given, rows.reached, rows.tasks, children),
        path=tuple(rows.path()),
        unbounded=_reasons(open_parts),
        assumed=tuple(dict.fromkeys(reason for part in assumed for reason in part)),
        warnings=warnings_of(given, rows.steps, [*rows.tasks, *nested], children),
    )


def _reasons(bounds: Iterable[Bound]) -> tuple[BoundReason, ...]:
    """Why anything is open, each reason once, in the order of the file."""
    found = dict.fromkeys(reason for bound in bounds for reason in bound.reasons)
    return tuple(sorted(found, key=lambda one: (one.place.file, one.place.line, one.place.column)))
