"""How often a run may visit a step, and whether its author said so or the engine does."""

from __future__ import annotations

from math import inf

from msgspec import Struct

from anew.program.program import Program

# What graphs get unless they say otherwise (`languages.dot.goals`).
_VISITS_BY_DEFAULT, _STEPS_BY_DEFAULT = 100, 1_000


class Limit(Struct, frozen=True):
    """So often at the most. `name` is what the limit is called."""

    most: float
    is_authors: bool
    name: str


def visits_limit(program: Program, step: str) -> Limit:
    """How often a run may visit a step."""
    own, limits = program.steps[step].visits_max, program.limits
    steps = steps_limit(program)
    if own is not None:
        found = Limit(float(own), True, f"max_visits, {own:,}")
    elif limits.visits_per_step is None:
        found = Limit(inf, False, "")
    else:
        most = limits.visits_per_step
        is_default = program.language == "dot" and most == _VISITS_BY_DEFAULT
        found = Limit(float(most), not is_default, f"limits.visits_per_step, {most:,}")
    is_nearer = steps.most < found.most
    return steps if is_nearer and steps.is_authors >= found.is_authors else found


def steps_limit(program: Program) -> Limit:
    """How many steps a run may begin."""
    most = program.limits.steps_per_run
    if most is None:
        return Limit(inf, False, "")
    is_default = program.language == "dot" and most >= _STEPS_BY_DEFAULT
    return Limit(float(most), not is_default, f"limits.steps_per_run, {most:,}")
