"""What code reads of its run by names of its own: those of the loop, and `context`.

The state is that at `task.started`, so that a lost worker's successor is given the same. Only code
that names `context` is given it. Knows Python's scopes and the folded state; calls nothing.
"""

from __future__ import annotations

from functools import lru_cache

from anew.engine.scope import loop_names
from anew.engine.state import RunState, StepRun
from anew.program.kind import Kind
from anew.values import Object, Value, patched

CONTEXT = "context"
# Code comes again and again, in loops above all.
_CODES_KEPT = 256


def names_of(kind: Kind, state: RunState, run: StepRun) -> Object:
    """The loop's names, for code in one of its iterations."""
    if not kind.has_names or run.key.iteration is None:
        return {}
    return loop_names(state, run, run.scratch)


def may_read_context(kind: Kind, inputs: Value) -> bool:
    """Whether the code reads `context`, as far as the inputs tell: a script is read later."""
    if not kind.has_names or not isinstance(inputs, dict):
        return False
    args = inputs.get("args")
    if isinstance(args, dict) and CONTEXT in args:
        return False
    code = inputs.get("code")
    return reads_context(code) if isinstance(code, str) else code is None


def reads_context(code: str) -> bool:
    """Whether `context` is a free name of the code, or an argument of its `main`."""
    return CONTEXT in code and _reads_context(code)


@lru_cache(_CODES_KEPT)
def _reads_context(code: str) -> bool:
    # Few documents have such code.
    import symtable  # noqa: PLC0415

    try:
        module = symtable.symtable(code, "<code>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False  # it cannot be run either, and whoever tries says why
    todo = [module]
    while todo:
        table = todo.pop()
        todo += table.get_children()
        if CONTEXT not in table.get_identifiers():
            continue
        symbol = table.lookup(CONTEXT)
        is_of_main = table.get_name() == "main" and symbol.is_parameter()
        is_free = table is module or symbol.is_global()
        if is_of_main or (is_free and symbol.is_referenced()):
            return True
    return False


def context_of(state: RunState, run: StepRun) -> Object:
    """The workload, ctx and results that a step-run sees now; they are not copied."""
    ctx = state.ctx_owner(run.branch).ctx
    return {
        "workload": state.workload,
        "ctx": patched(ctx, run.own_ctx) if run.own_ctx else ctx,
        "steps": {name: step.result for name, step in state.results.items()},
        "execution_id": state.run,
    }
