"""A field of the program is written by all that write or compare programs, or is excused.

Without this, a new setting of a step is lost in silence by `check --expand`, `migrate` and
`whatif`: they name the fields one by one. They call what they look at by its class (`step.pool`,
`gate.most`), which is how a field is found here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from msgspec import Struct

import anew
from anew.program.program import (
    AdmitRule,
    Arc,
    Gate,
    Gather,
    Loop,
    Program,
    Router,
    Step,
    Task,
)

SOURCES = Path(anew.__file__).parent
NAMES: Mapping[type[Struct], str] = {
    Program: "program",
    Step: "step",
    Task: "task",
    Loop: "loop",
    Router: "router",
    Arc: "arc",
    Gather: "gather",
    Gate: "gate",
    AdmitRule: "rule",
}
WRITERS = {
    "check --expand": ("languages/expanding/*.py",),
    "graph to playbook": (
        "languages/translation/to_playbook.py",
        "languages/translation/graph_tasks.py",
        "languages/translation/graph_patches.py",
    ),
    "program to graph": (
        "languages/translation/to_dot.py",
        "languages/translation/program_nodes.py",
        "languages/translation/comparing.py",
    ),
    "whatif": ("lab/whatif/changes.py",),
}
# What nobody writes: it says where something stood, or follows from what is written.
FOLLOWS = {
    "program.language": "of the document, not of what it means",
    "program.dialect": "of the document, not of what it means",
    "program.digest": "of the document, not of what it means",
    "program.path": "where a catalog keeps the document",
    "program.workload_templates": "compiled from the workload",
    "step.dialect": "of the document; expressions are written in canonical words",
    "task.dialect": "of the document; expressions are written in canonical words",
    "arc.counts_failures": "follows from `when`",
    "arc.rank": "follows from weights and order; `router.ranked` is what is read",
}
_NO_LOOP = "a graph has no loops"
_GUARDED = (
    *("program.dependencies", "program.priority"),
    *("task.dependency", "task.priority", "task.hold_timeout"),
)
_WHOLE = "compared as a whole, as a part of its step"
EXCUSED: Mapping[str, Mapping[str, str]] = {
    "check --expand": {},
    "graph to playbook": {
        "program.failure": "a graph cannot say it",
        "program.return_step": "a graph cannot say it",
        "program.workbook": "a graph has none",
        "program.keychain": "a graph has none",
        **dict.fromkeys(_GUARDED, "a graph cannot say it"),
        "program.ctx": "a graph's ctx starts as its input",
        "step.loop": _NO_LOOP,
        "step.admit": "a graph has no admission rules",
        "step.failure": "a graph cannot say it",
        "step.deadline_seconds": "a graph cannot say it",
        "step.pool": "a graph cannot say it",
        "step.compensation": "a graph cannot say it",
        "step.compensates": "a graph cannot say it",
        "step.patches": "a graph cannot say it",
        "loop.source": _NO_LOOP,
        "loop.iterator": _NO_LOOP,
        "loop.mode": _NO_LOOP,
        "loop.max_in_flight": _NO_LOOP,
        "arc.weight": "the arcs are written in the order of `router.ranked`",
        "arc.patches": "a graph cannot say it",
        "rule.allow": "a graph has no admission rules",
    },
    "program to graph": {
        "program.workload_is_ctx": "`workload.x` is written as `ctx.x`, as ctx starts in a graph",
        "step.join": "tokens are several where arcs are inclusive, and that is reported",
        "task.label": "the node has the name of its step",
        **dict.fromkeys(_GUARDED, "guards hold calls and decide nothing about them"),
        "loop.source": "that the step loops is reported",
        "loop.iterator": "that the step loops is reported",
        "loop.mode": "that the step loops is reported",
        "loop.max_in_flight": "that the step loops is reported",
        "router.join": "follows from the node at which the branches meet",
        "arc.weight": "edges have weights by the order of `router.ranked`",
        "rule.allow": "that the step has admission rules is reported",
    },
    "whatif": {
        "program.name": "compared as `old.name`",
        "program.steps": "compared as `old.steps`",
        "program.return_step": "which result is the run's changes no decision",
        "program.keychain": "what the credentials gave is in the log",
        "step.name": "steps are compared with those of the same name",
        "step.pool": "who executes a step changes no decision",
        "rule.allow": _WHOLE,
        **{
            f"{NAMES[part]}.{name}": _WHOLE
            for part in (Loop, Router, Arc, Gather, Gate)
            for name in part.__struct_fields__
            if not name.endswith("span") and f"{NAMES[part]}.{name}" not in FOLLOWS
        },
    },
}


def fields() -> Iterator[str]:
    """What the author can say; a span only tells where."""
    for part, name in NAMES.items():
        for field in part.__struct_fields__:
            if not field.endswith("span"):
                yield f"{name}.{field}"


@cache
def read_by(writer: str) -> frozenset[str]:
    """`step.pool` for every place that reads such a field, however the step was come by."""
    paths = [path for pattern in WRITERS[writer] for path in sorted(SOURCES.glob(pattern))]
    assert len(paths) >= len(WRITERS[writer])
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    return frozenset(
        f"{_name(node.value)}.{node.attr}" for node in nodes if isinstance(node, ast.Attribute)
    )


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):  # `step.tasks[0]` is a task
            return _name(value).removesuffix("s")
        case _:
            return ""


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_program_is_read_or_excused(writer: str) -> None:
    known = read_by(writer) | FOLLOWS.keys() | EXCUSED[writer].keys()
    lost = [field for field in fields() if field not in known]
    assert lost == [], f"{writer} loses them: read them in {WRITERS[writer]}, or excuse them here"


@pytest.mark.parametrize("writer", WRITERS)
def test_every_excuse_is_still_needed(writer: str) -> None:
    read, all_fields = read_by(writer), set(fields())
    assert [field for field in EXCUSED[writer] if field in read or field not in all_fields] == []


def test_what_follows_from_other_fields_is_a_field() -> None:
    assert FOLLOWS.keys() <= set(fields())
