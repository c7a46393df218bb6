"""Checks that need the whole Program and no language: reachability, jump cycles, dead rules.

Findings here are warnings: a program with them runs, but hardly as its author meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anew.program.findings import Finding, Severity
from anew.program.policy import Break, Continue, Directive, Fail, Jump, PatchTarget, Retry, Rule
from anew.program.program import LoopMode, Program, Step, Task
from anew.program.span import Span

PROGRAM_RULES: dict[str, str] = {
    "step.unreachable": "No arc leads to this step from the entry.",
    "jump.endless": "Jumps form a cycle that no rule leaves.",
    "rule.after-else": "A rule stands after one that always matches.",
    "loop.parallel-ctx": "A parallel loop writes `ctx`; iterations do not see each other's values.",
}


def check_program(program: Program, hints: Mapping[str, str] | None = None) -> list[Finding]:
    """Every warning about the program as a whole.

    `hints` maps names that arcs lead to in vain to the steps they probably mean, so that one typo
    is not reported again as an unreachable step.
    """
    findings = list(_unreachable(program, hints or {}))
    for step in program.steps.values():
        findings += _endless_jumps(step)
        findings += _parallel_patches(step)
        for task in step.tasks:
            findings += _dead_rules(task)
    return findings


def _warning(rule: str, place: Span, message: str, suggestion: str | None = None) -> Finding:
    return Finding(Severity.WARNING, rule, message, place, suggestion)


def _unreachable(program: Program, hints: Mapping[str, str]) -> Iterator[Finding]:
    seen: set[str] = set()
    todo = [program.entry, *hints.values()]
    while todo:
        name = todo.pop()
        if name in seen or name not in program.steps:
            continue
        seen.add(name)
        todo.extend(arc.to for arc in program.steps[name].router.arcs)
    for step in program.steps.values():
        if step.name not in seen:
            message = f"no arc leads to step {step.name!r} from the entry step {program.entry!r}"
            yield _warning(
                "step.unreachable", step.span, message, "Add an arc, or remove the step."
            )


def _dead_rules(task: Task) -> Iterator[Finding]:
    always: int | None = None
    for number, rule in enumerate(task.policy.rules, start=1):
        if always is not None:
            message = (
                f"rule {number} of task {task.label!r} can never match: rule {always} always does"
            )
            yield _warning("rule.after-else", rule.span, message, "Move it before `else`.")
        elif is_else(rule):
            always = number


def is_else(rule: Rule) -> bool:
    """Whether the rule matches every outcome."""
    return rule.when is None and rule.on is None


def _parallel_patches(step: Step) -> Iterator[Finding]:
    if step.loop is None or step.loop.mode is not LoopMode.PARALLEL:
        return
    for task in step.tasks:
        groups = [task.policy.patches, *(rule.patches for rule in task.policy.rules)]
        for patches in groups:
            for patch in patches:
                if patch.target is PatchTarget.CTX:
                    message = (
                        f"task {task.label!r} sets ctx.{'.'.join(patch.path)} in a parallel loop: "
                        "iterations do not see each other's values, and the last index wins"
                    )
                    yield _warning("loop.parallel-ctx", patch.span, message, _USE_ITER)


_USE_ITER = "Use `set_iter`, or return the value and read `<step>.results` after the loop."


def _endless_jumps(step: Step) -> Iterator[Finding]:
    """One finding per task that jumps and can never get out of the pipeline again."""
    exits = _tasks_with_a_way_out(step)
    for index, task in enumerate(step.tasks):
        if index in exits:
            continue
        jump = next((rule for rule in task.policy.rules if isinstance(rule.then, Jump)), None)
        if jump is not None and isinstance(jump.then, Jump):
            message = (
                f"task {task.label!r} jumps to {jump.then.to!r}, and no rule ever leaves that cycle"
            )
            yield _warning(
                "jump.endless", jump.span, message, "Add a rule with `do: break` or `fail`."
            )


def _tasks_with_a_way_out(step: Step) -> set[int]:
    after: list[set[int]] = [set(_followers(step, index)) for index in range(len(step.tasks))]
    out = {index for index, followers in enumerate(after) if len(step.tasks) in followers}
    while True:
        more = {i for i, followers in enumerate(after) if i not in out and followers & out}
        if not more:
            return out
        out |= more


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
