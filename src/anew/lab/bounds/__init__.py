"""The worst case of a program, from the document alone: how often, how long, and what is open.

`bounds_of` is the way in. Nothing is run and nothing is read: the caller finds child programs.
"""

from __future__ import annotations

from anew.lab.bounds.amounts import Bound, BoundReason
from anew.lab.bounds.analysis import bounds_of
from anew.lab.bounds.analysis_inputs import Child, Resolver
from anew.lab.bounds.report import Bounds, Dependency, PathStep, StepBounds, TaskBounds

__all__ = [
    "Bound",
    "BoundReason",
    "Bounds",
    "Child",
    "Dependency",
    "PathStep",
    "Resolver",
    "StepBounds",
    "TaskBounds",
    "bounds_of",
]
