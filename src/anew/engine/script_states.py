"""How a run stands for the templates of a script, whose text is known only when its task is called.

It is the state at `task.started`: the run may move on before the text is at hand, and a lost
worker's successor renders the same. Knows no texts.
"""

from __future__ import annotations

from msgspec.structs import replace

from anew.engine.state import LoopVisit, RunState, StepRun
from anew.program.kind import Kind
from anew.values import Value


def renders_script(kind: Kind, inputs: Value) -> bool:
    """Whether the inputs name a script whose text is rendered."""
    is_rendered = kind.script_for is not None and kind.script_for not in kind.verbatim
    return is_rendered and isinstance(inputs, dict) and inputs.get("script") is not None


def state_for_script(state: RunState, run: StepRun) -> RunState:
    """What templates of this step-run read, in a copy that later events do not change."""
    place = (run.key.step, run.key.visit)
    visit = state.active[place]
    if isinstance(visit, LoopVisit) and run.key.iteration is not None:
        visit = replace(visit, open={run.key.iteration: run})
    branches = {
        number: replace(branch, retries=dict(branch.retries), verdicts=dict(branch.verdicts))
        for number, branch in state.branches.items()
    }
    return replace(
        state,
        active={place: visit},
        results=dict(state.results),
        retries=dict(state.retries),
        verdicts=dict(state.verdicts),
        branches=branches,
        branch_groups=dict(state.branch_groups),
    )
