"""What the analysis of one program is given: the program, its workload, what is assumed.

Also the words for costs that its parts share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from anew.lab.bounds.amounts import Bound
from anew.lab.bounds.static_values import Workload, inputs_known
from anew.lab.cancellation import CancelCheck, never_cancelled
from anew.program.kind import OutcomeSource
from anew.program.program import Limits, Program, Task
from anew.program.span import Span
from anew.values import Object

if TYPE_CHECKING:
    from anew.lab.bounds.report import Bounds

# Sorts of cost beside the executions of each task: time in waits, in waits and calls together, and
# the executions of all tasks, those of child runs included.
WAITS, TIME, ALL = "waits", "time", "all"
SHARED = (WAITS, TIME, ALL)
# Tasks of this kind pass on what is known. The engine does it, and nobody calls it an execution.
RELAY = "relay"
# An amount by sort; what is missing is nothing.
Cost: TypeAlias = Mapping[str, Bound]


def executions(label: str) -> str:
    """The sort of cost that counts the executions of a task of the step."""
    return f"executions {label}"


class ChildCall(Struct, frozen=True):
    """A child program that a task calls, as far as the document tells."""

    what: str
    place: Span
    inputs: Object


class Child(Struct, frozen=True):
    """A child's program; None with the reason why it is not known."""

    program: Program | None
    why: str = ""


# Finds the child that a program calls; it reads files or databases, which the lab does not.
Resolver: TypeAlias = Callable[[Program, Object], Child]


class AnalysisInput(Struct, frozen=True):
    """`items` is how many an unknown list is assumed to have.

    `child` analyses what a task calls, or says why it cannot. `cancel_check` ends the analysis.
    """

    program: Program
    workload: Workload
    items: int | None
    child: Callable[[ChildCall], Bounds | str]
    cancel_check: CancelCheck = never_cancelled

    @property
    def tasks_most(self) -> tuple[int, bool]:
        """How many tasks a step-run may execute, and whether the author said so."""
        most = self.program.limits.tasks_per_step_run
        return most, most != Limits().tasks_per_step_run

    @property
    def verdicts_matter(self) -> bool:
        """Whether anything depends on how well a step went, beside whether it failed."""
        return self.program.language == "dot" or bool(self.program.gates)


def child_of(children: Mapping[str, Bounds | str], tool: Task) -> Bounds | None:
    """The bounds of the run that a task starts; None when it starts none, or they are not known."""
    is_child = tool.outcome_from is OutcomeSource.CHILD
    found = children.get(str(tool.span)) if is_child else None
    return None if isinstance(found, str) else found


def tools_of(given: AnalysisInput, task: Task) -> list[Task]:
    """The task itself, or those of the workbook that it may name."""
    if task.outcome_from is not OutcomeSource.WORKBOOK:
        return [task]
    book, name = given.program.workbook, inputs_known(task.inputs, given.workload).get("name")
    return [book[name]] if isinstance(name, str) and name in book else list(book.values())
