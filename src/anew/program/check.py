"""Checks that need the whole Program and no language: reachability, jump cycles, dead rules.

Findings here are warnings: a program with them runs, but hardly as its author meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice
from typing import assert_never

from anew.program.certain import certain_tasks
from anew.program.extras import Extra
from anew.program.findings import Finding, Severity
from anew.program.graph_walks import backwards, reached
from anew.program.kind import SIDE_WORDS
from anew.program.kinds import missing_extra, optional_parts
from anew.program.policy import (
    Break,
    Continue,
    Directive,
    Fail,
    Jump,
    Patch,
    PatchTarget,
    Retry,
    Rule,
)
from anew.program.program import LoopMode, Program, Step, Task
from anew.program.retry import Backoff, BackoffKind
from anew.program.span import Span

_DAY_SECONDS = 86_400
# A delay that has not passed a day after so many attempts grows too slowly to be a mistake.
_GROWTH_MAX = 1_000

PROGRAM_RULES: dict[str, str] = {
    "step.unreachable": "No way leads to this step from the entry.",
    "join.no-fork": "A step has a policy for the branches of a split, and none meets there.",
    "gate.no-exit": "A gate is never asked, because no step is an exit.",
    "loop.retry-to": "A retry in a loop names a step; an iteration cannot go there and fails.",
    "jump.endless": "Jumps form a cycle that no rule leaves.",
    "rule.after-else": "A rule comes after one that always matches.",
    "rule.delay-long": "A growing delay has no cap and passes a day before the attempts are spent.",
    "set.order": "A value of a `set` reads what only the same `set` writes, which is too early.",
    "tool.extra": "A tool needs an extra that is not installed here, so the task would fail.",
    "loop.parallel-ctx": "A parallel loop writes `ctx`; iterations do not see each other's values.",
}


def check_installed(program: Program, *, runs_here: bool = False) -> Iterator[Finding]:
    """What tasks need that this machine lacks: an error of what every run needs here."""
    certain = certain_tasks(program) if runs_here else []
    for task in program.tasks:
        is_error = any(task is one for one in certain)
        severity = Severity.ERROR if is_error else Severity.WARNING
        for what, extra in _missing_extras(task.kind, task.inputs.source):
            remedy = f"Install it: {extra.command}"
            yield Finding(severity, "tool.extra", extra.problem(what), task.span, remedy)


def _missing_extras(kind: str, inputs: object) -> Iterator[tuple[str, Extra]]:
    """Those of a task, as far as its inputs are written down and not templates."""
    extra = missing_extra(kind)
    if extra is not None:
        yield f"kind {kind} needs", extra
    given = inputs if isinstance(inputs, Mapping) else {}
    for key, word, part in optional_parts(kind):
        if word in _words(given.get(key)) and part.is_missing:
            yield f"{key}: {word} of kind {kind} needs", part


def _words(given: object) -> tuple[object, ...]:
    """What an input says, or what kind of side it is."""
    return tuple(map(given.get, SIDE_WORDS)) if isinstance(given, Mapping) else (given,)


def check_program(
    program: Program, *, also_reached: Iterable[str] = (), knows_routes: bool = True
) -> list[Finding]:
    """Every warning about the program as a whole.

    `also_reached` are the steps that misspelt arcs probably mean, so that one typo is not reported
    again as an unreachable step. Without `knows_routes` no step counts as unreachable.
    """
    findings = list(_unreachable(program, also_reached)) if knows_routes else []
    findings += _idle_joins(program)
    findings += _idle_gates(program)
    findings += _early_reads(program)
    for step in program.steps.values():
        findings += _endless_jumps(step)
        findings += _parallel_patches(step)
        findings += _retries_elsewhere(step)
        findings += _unreachable_rules(
            f"the gate of step {step.name!r}",
            ((rule.when is None, rule.span) for rule in step.admit),
        )
        for task in step.tasks:
            findings += _unreachable_task_rules(task)
            findings += _long_delays(task)
    for task in program.workbook.values():
        findings += _unreachable_task_rules(task)
        findings += _long_delays(task)
    return findings


def _warning(rule: str, place: Span, message: str, suggestion: str | None = None) -> Finding:
    return Finding(Severity.WARNING, rule, message, place, suggestion)


def _unreachable(program: Program, also_reached: Iterable[str]) -> Iterator[Finding]:
    seen = reached(program.ways, [program.entry, *also_reached])
    for step in program.steps.values():
        if step.name not in seen and step.compensates is None:
            message = f"no way leads to step {step.name!r} from the entry step {program.entry!r}"
            yield _warning(
                "step.unreachable", step.span, message, "Add an arc, or remove the step."
            )


def _idle_joins(program: Program) -> Iterator[Finding]:
    met = {step.router.join for step in program.steps.values()}
    for step in program.steps.values():
        if step.gather is not None and step.name not in met:
            message = f"step {step.name!r} has a policy for branches, but no split's meet there"
            remedy = "Write `next: {spec: {mode: fork}, …}` where they part, or `join: all`."
            yield _warning("join.no-fork", step.gather.span, message, remedy)


def _idle_gates(program: Program) -> Iterator[Finding]:
    if any(step.is_exit for step in program.steps.values()):
        return
    for step in program.steps.values():
        if step.gate is not None:
            message = f"the gate of step {step.name!r} is never asked: no step is an exit"
            remedy = "Write `spec: {exit: true}` on the step at which the run ends."
            yield _warning("gate.no-exit", step.gate.span, message, remedy)


def _early_reads(program: Program) -> Iterator[Finding]:
    """Values that read what their own `set` writes, where nothing could have written it before."""
    groups = [group for group in _sets(program) if len(group) > 1]
    if not groups:
        return
    start = program.ctx.source if program.ctx is not None else None
    known = {*program.workload, *(start if isinstance(start, dict) else ()), *program.steps}
    written = Counter(patch.path[0] for patch in program.patches)
    for group in groups:
        for patch in group:
            others = {one.path[0] for one in group if one.path[0] != patch.path[0]}
            paths = {path[1] for path in patch.value.paths if path[0] == "ctx" and len(path) > 1}
            for name in sorted(others & (paths | patch.value.names) - known):
                if written[name] == 1:
                    yield _early(patch, name)


def _early(patch: Patch, name: str) -> Finding:
    what = ".".join(patch.path)
    message = (
        f"{what!r} reads {name!r}, which only the same `set` writes: its values are all rendered "
        "before the first is written"
    )
    return _warning("set.order", patch.span, message, f"Set {name!r} in a step or task before it.")


def _sets(program: Program) -> Iterator[tuple[Patch, ...]]:
    """What each `set` of a step, an arc or a task writes."""
    for step in program.steps.values():
        yield step.patches
        yield from (arc.patches for arc in step.router.arcs)
    if program.language == "playbook":
        yield from (task.policy.patches for task in program.tasks)


def _unreachable_task_rules(task: Task) -> Iterator[Finding]:
    rules = ((is_else(rule), rule.span) for rule in task.policy.rules)
    return _unreachable_rules(f"task {task.label!r}", rules)


def _long_delays(task: Task) -> Iterator[Finding]:
    for rule in task.policy.rules:
        then = rule.then
        found = then.backoffs if isinstance(then, Retry) else ()
        late = (_attempt_after_a_day(then, b) for b in found if isinstance(then, Retry))
        attempt = min((attempt for attempt in late if attempt is not None), default=None)
        if attempt is not None:
            message = f"from attempt {attempt} on, task {task.label!r} waits for more than a day"
            remedy = "Add `max_delay: 1h`, or allow fewer attempts."
            yield _warning("rule.delay-long", rule.then.span, message, remedy)


def _attempt_after_a_day(retry: Retry, backoff: Backoff) -> int | None:
    """The first attempt before which a growing delay without a cap has passed a day."""
    first, attempts = backoff.first, retry.attempts
    is_bounded = backoff.cap is not None or retry.max_elapsed is not None
    if is_bounded or not isinstance(first, (int, float)) or not isinstance(attempts, int):
        return None
    grown: Iterator[float]
    match backoff.kind:
        case BackoffKind.NONE | BackoffKind.FIXED | BackoffKind.TABLE:
            return None  # as long as its author wrote
        case BackoffKind.LINEAR:
            grown = (first * k for k in range(1, attempts))
        case BackoffKind.EXPONENTIAL:
            grown = accumulate(range(1, attempts), lambda d, _: d * backoff.factor, initial=first)
        case other:
            assert_never(other)
    delays = enumerate(islice(grown, min(attempts - 1, _GROWTH_MAX)), 2)
    return next((attempt for attempt, delay in delays if delay > _DAY_SECONDS), None)


def _unreachable_rules(owner: str, rules: Iterable[tuple[bool, Span]]) -> Iterator[Finding]:
    """`rules` says of each whether it always matches, and where it stands."""
    always: int | None = None
    for number, (is_always, place) in enumerate(rules, start=1):
        if always is not None:
            message = f"rule {number} of {owner} can never match: rule {always} always does"
            yield _warning("rule.after-else", place, message, "Move it before `else`.")
        elif is_always:
            always = number


def is_else(rule: Rule) -> bool:
    """Whether the rule matches every outcome."""
    is_limited = isinstance(rule.then, Jump) and rule.then.is_limited
    return rule.when is None and rule.on is None and not is_limited


def _parallel_patches(step: Step) -> Iterator[Finding]:
    if step.loop is None or step.loop.mode is not LoopMode.PARALLEL:
        return
    for task in step.tasks:
        for patch in task.policy.all_patches:
            if patch.target is PatchTarget.CTX:
                message = (
                    f"task {task.label!r} sets ctx.{'.'.join(patch.path)} in a parallel loop: "
                    "iterations do not see each other's values, and the last index wins"
                )
                yield _warning("loop.parallel-ctx", patch.span, message, _USE_ITER)


def _retries_elsewhere(step: Step) -> Iterator[Finding]:
    if step.loop is None:
        return
    for task in step.tasks:
        for rule in task.policy.rules:
            if isinstance(rule.then, Retry) and rule.then.to is not None:
                message = (
                    f"a retry of task {task.label!r} goes to {rule.then.to!r}, but an iteration of "
                    "a loop cannot leave it: it fails instead"
                )
                yield _warning("loop.retry-to", rule.then.span, message, "Remove `to`.")


_USE_ITER = "Use `set_iter`, or return the value and read `<step>.results` after the loop."


def _endless_jumps(step: Step) -> Iterator[Finding]:
    """One finding per task that jumps and can never get out of the pipeline again."""
    if not any(_jump_of(rule.then) for task in step.tasks for rule in task.policy.rules):
        return
    exits = _tasks_with_a_way_out(step)
    for index, task in enumerate(step.tasks):
        if index in exits:
            continue
        jumps = ((rule, _jump_of(rule.then)) for rule in task.policy.rules)
        rule, jump = next((pair for pair in jumps if pair[1] is not None), (None, None))
        if rule is not None and jump is not None:
            message = (
                f"task {task.label!r} jumps to {jump.to!r}, and no rule ever leaves that cycle"
            )
            yield _warning(
                "jump.endless", rule.span, message, "Add a rule with `do: break` or `fail`."
            )


def _jump_of(then: Directive) -> Jump | None:
    """The jump a rule makes, at once or when its attempts are spent."""
    if isinstance(then, Retry) and then.on_exhausted is not None:
        then = then.on_exhausted.then
    return then if isinstance(then, Jump) else None


def _tasks_with_a_way_out(step: Step) -> set[int]:
    indexes = range(len(step.tasks))
    followers = {index: list(_followers(step, index)) for index in indexes}
    return reached(backwards(followers), [len(step.tasks)])


def _followers(step: Step, index: int) -> Iterator[int]:
    """Where a task's rules lead; `len(tasks)` is the end of the pipeline."""
    end = len(step.tasks)
    for rule in step.tasks[index].policy.rules:
        yield from _targets(rule.then, step, index)
        if is_else(rule):
            return
    # The failure of an unmatched error is not counted: a way out is one the author wrote.
    yield min(index + 1, end)


def _targets(then: Directive, step: Step, index: int) -> Iterator[int]:
    match then:
        case Continue():
            yield index + 1
        case Break() | Fail():
            yield len(step.tasks)
        case Jump():
            if then.to in step.index_of:
                yield step.index_of[then.to]
        case Retry():
            if then.on_exhausted is not None:
                yield from _targets(then.on_exhausted.then, step, index)
        case _:
            assert_never(then)
