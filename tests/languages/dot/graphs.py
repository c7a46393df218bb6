"""Compile and simulate small graphs."""

from __future__ import annotations

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.program.findings import Severity
from anew.program.program import Program
from anew.values import Object, Value
from tests.languages.dot.documents import DOCS, SPEC


def program_of(text: str, *, dialect: str | None = None) -> Program:
    loaded = load_text(text, "p.dot", dialect=dialect)
    assert loaded.program is not None, [
        found for found in loaded.findings if found.severity is Severity.ERROR
    ]
    return loaded.program


def docs(statements: str) -> Program:
    """A docs graph with the start `s` and the exit `x`."""
    return program_of(f"{DOCS}{statements} }}")


def spec(statements: str) -> Program:
    """A spec graph with the start `s` and the exit `x`."""
    return program_of(f"{SPEC}{statements} }}")


def played(program: Program, *, random: float = 0.5, **outcomes: list[Object]) -> Object:
    """The report of a simulated run; outcomes by node."""
    report: Object = simulate(program, script_of({"outcomes": outcomes, "random": random})).report()
    return report


def delays(report: Object) -> list[float]:
    return [delay["seconds"] for delay in report["delays"]]


def inputs(report: Object, step: str) -> list[Value]:
    """What each execution of a node was given."""
    started = (event for event in report["events"] if event["name"] == "task.started")
    return [event["data"].get("inputs") for event in started if event["step"] == step]
