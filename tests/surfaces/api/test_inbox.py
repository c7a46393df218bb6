"""What people are asked by all runs together, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.surfaces.api.served import ASKS, WAITS, Site, play

URGENT = """\
metadata: {name: urgent}
workflow:
  - step: gate
    tool:
      kind: human
      question: "Now?"
      choices: ["Yes", "No"]
      timeout: 3600
      timeout_action: first
      default: "No"
"""
TWO = """\
metadata: {name: two}
workflow:
  - step: split
    tool: {kind: noop}
    next: {spec: {mode: inclusive}, arcs: [{step: left}, {step: right}]}
  - step: left
    tool: {kind: human, question: "Left?"}
  - step: right
    tool: {kind: human, question: "Right?", timeout: 60}
"""
ASKING_GRAPH = """\
digraph review {
  start [shape=Mdiamond]
  ask [shape=hexagon, label="Good enough?"]
  done [shape=Msquare]
  start -> ask
  ask -> done [label="[Y] Yes"]
  ask -> again [label="[N] No"]
  again [shape=box, prompt="mend it"]
  again -> ask
}
"""


async def waiting(site: Site, document: str, **more: Any) -> str:
    """A run that waits for whoever is to answer."""
    run = await site.started(document, **more)
    await site.reached(run, "waiting")
    return run


async def asked(site: Site) -> list[dict[str, Any]]:
    return list((await site.get("/api/v1/questions"))["questions"])


def test_questions_of_all_runs_come_by_their_deadline(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        calm = await waiting(site, ASKS, labels={"team": "a"})
        urgent = await waiting(site, URGENT)
        await waiting(site, WAITS)
        first, second = await asked(site)
        assert (first["run"], first["program"], first["step"]) == (urgent, "urgent", "gate")
        assert first["silence"] == "takes No"
        assert first["asked_at"] < first["deadline"]
        assert second == {
            "run": calm,
            "step": "gate",
            "task": "gate",
            "question": "Ship it?",
            "choices": ["[Y] Yes", "[N] No"],
            "deadline": None,
            "program": "ask",
            "asked_at": second["asked_at"],
            "silence": None,
            "labels": {"team": "a"},
        }

    play(tmp_path, act)


def test_an_answered_question_is_gone_and_the_other_of_the_run_stays(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await waiting(site, TWO)
        right, left = await asked(site)
        assert (right["step"], right["silence"]) == ("right", "gives up")
        assert (left["step"], left["choices"]) == ("left", [])
        await site.post(f"/api/v1/runs/{run}/answer", {"answer": "yes", "step": "right"})
        [row] = await asked(site)
        assert row["step"] == "left"
        await site.post(f"/api/v1/runs/{run}/cancel")
        assert await asked(site) == []

    play(tmp_path, act)


def test_a_list_that_is_cut_says_so(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for _ in range(3):
            await waiting(site, ASKS)
        told = await site.get("/api/v1/questions?limit=2")
        assert (len(told["questions"]), told["is_cut"]) == (2, True)
        assert not (await site.get("/api/v1/questions?limit=3"))["is_cut"]
        await site.get("/api/v1/questions?limit=0", 400)
        await site.get("/api/v1/questions?limit=100000", 400)

    play(tmp_path, act)


def test_a_graph_asks_as_well(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await waiting(site, ASKING_GRAPH)
        [row] = await asked(site)
        assert (row["program"], row["step"]) == ("review", "ask")
        assert row["choices"] == ["[Y] Yes", "[N] No"]

    play(tmp_path, act)
