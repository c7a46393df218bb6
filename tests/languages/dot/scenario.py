"""Play a graph written in a test on scripted outcomes, in virtual time."""

from __future__ import annotations

from typing import Any

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text

DOCS_ENDS = "s [shape=ellipse] x [shape=ellipse]"
SPEC_ENDS = "s [shape=Mdiamond] x [shape=Msquare]"

Entries = list[dict[str, Any]]

OK: dict[str, Any] = {"status": "SUCCESS"}
FAIL: dict[str, Any] = {"status": "FAILURE"}
TERMINAL: dict[str, Any] = {"status": "FAILURE", "error": {"type": "TERMINAL"}}
PARTIAL: dict[str, Any] = {"status": "PARTIAL"}
SKIPPED: dict[str, Any] = {"status": "SKIPPED"}
RETRY: dict[str, Any] = {"status": "retry"}


class Played:
    """What a simulated run came to."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        self.way = " ".join(report["visits"])
        self.status = report["status"]
        self.ctx = report["ctx"]
        self.delays = [delay["seconds"] for delay in report["delays"]]
        self.elapsed = report["elapsed"]
        self.error = report["error"] or {}
        self.unsatisfied = report["unsatisfied"]

    def inputs(self, step: str) -> list[dict[str, Any]]:
        """The inputs of each attempt of a node."""
        return [row["data"]["inputs"] for row in self.rows("task.started") if row["step"] == step]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [row for row in self.report["events"] if row["name"] == name]

    def reasons(self) -> list[str]:
        """Why each way was taken."""
        return [row["data"].get("reason") for row in self.rows("next.evaluated")]


def findings(text: str) -> dict[str, str]:
    """The severity of each rule that has something to say."""
    return {found.rule: found.severity.value for found in load_text(text, "g.dot").findings}


def play(
    text: str,
    *,
    random: float = 0.0,
    workload: dict[str, Any] | None = None,
    **outcomes: Entries,
) -> Played:
    loaded = load_text(text, "g.dot")
    assert loaded.program is not None, [f"{one.rule} {one.message}" for one in loaded.findings]
    script = {"outcomes": outcomes, "random": random, "workload": workload or {}}
    return Played(simulate(loaded.program, script_of(script)).report())


def play_docs(body: str, **script: Any) -> Played:
    return play(f"digraph p {{ {DOCS_ENDS} {body} }}", **script)


def play_spec(body: str, **script: Any) -> Played:
    return play(f"digraph p {{ {SPEC_ENDS} {body} }}", **script)
