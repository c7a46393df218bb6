"""What people are asked by all runs together, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anew.store import RunId
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
LOOP = """\
metadata: {name: loop}
workflow:
  - step: each
    loop: {in: "{{ [0, 1, 2] }}", iterator: n, spec: {mode: parallel, max_in_flight: 3}}
    tool: {kind: human, question: "Number {{ iter.n }}?", choices: ["Yes", "No"]}
"""
SUBFLOW = """\
metadata: {name: parent}
workflow:
  - step: call
    tool: {kind: playbook, path: ask}
"""
AGAIN = """\
metadata: {name: again}
workflow:
  - step: gate
    tool: {kind: human, question: "Ship it?", choices: ["Yes", "No"]}
    next: [{step: gate, when: "{{ gate.label == 'No' }}"}]
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


async def still(site: Site, run: str) -> None:
    """Nothing but people can move the run on, and all that it asks is asked."""
    await site.engine.people.until_blocked(RunId(int(run)))


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
            "asked": second["asked"],
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


def test_an_answer_goes_to_the_iteration_that_it_names(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(LOOP)
        await still(site, run)
        path = f"/api/v1/runs/{run}/answer"
        rows = {row["question"]: row["asked"] for row in await asked(site)}
        assert list(rows) == ["Number 0?", "Number 1?", "Number 2?"]
        own = (await site.get(f"/api/v1/runs/{run}/questions"))["questions"]
        shown = (await site.get(f"/api/v1/runs/{run}/picture"))["questions"]
        listed = (await site.get("/api/v1/runs"))["runs"][0]["questions"]
        for found in (own, shown, listed):
            assert {row["question"]: row["asked"] for row in found} == rows
        given = {"answer": "No", "step": "each", "asked": rows["Number 2?"]}
        taken = await site.post(path, given)
        assert taken["question"]["question"] == "Number 2?"
        assert (await site.post(path, given, 409))["type"] == "urn:anew:problem:conflict"
        assert [row["question"] for row in await asked(site)] == ["Number 0?", "Number 1?"]
        # The number alone says which; an answer that does not fit is still no conflict.
        unfit = {"answer": "perhaps", "asked": rows["Number 1?"]}
        assert (await site.post(path, unfit, 422))["type"] == "urn:anew:problem:unfit-answer"
        await site.post(path, {"answer": "Yes", "asked": rows["Number 1?"]})
        # Whoever names none answers the one that has waited longest.
        await site.post(path, {"answer": "Yes", "step": "each"})
        assert (await site.ended(run))["status"] == "done"

    play(tmp_path, act)


def test_a_question_that_is_asked_again_is_another_one(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await waiting(site, AGAIN)
        path = f"/api/v1/runs/{run}/answer"
        [first] = await asked(site)
        await site.post(path, {"answer": "No", "asked": first["asked"]})
        await still(site, run)
        [second] = await asked(site)
        assert (second["step"], second["question"]) == (first["step"], first["question"])
        late = {"answer": "Yes", "step": "gate", "asked": first["asked"]}
        assert "is not open any more" in (await site.post(path, late, 409))["detail"]
        assert await asked(site) == [second]

    play(tmp_path, act)


def test_a_number_of_a_child_names_nothing_of_its_parent(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": ASKS}, 201)
        parent = await site.started(SUBFLOW)
        await still(site, parent)
        [row] = await asked(site)
        given = {"answer": "Y", "asked": row["asked"]}
        told = await site.post(f"/api/v1/runs/{parent}/answer", given, 409)
        assert f"run {row['run']}, which it waits for, has one" in told["detail"]
        await site.post(f"/api/v1/runs/{row['run']}/answer", given)
        assert (await site.ended(parent))["status"] == "done"

    play(tmp_path, act)


def test_a_graph_asks_as_well(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await waiting(site, ASKING_GRAPH)
        [row] = await asked(site)
        assert (row["program"], row["step"]) == ("review", "ask")
        assert row["choices"] == ["[Y] Yes", "[N] No"]

    play(tmp_path, act)
