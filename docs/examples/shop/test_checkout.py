"""Tests of the checkout: played in virtual time, run for real, and behind FastAPI."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import shop_tools
from app import app
from fastapi.testclient import TestClient

from anew import RunFailedError, SyncEngine, lab, open_engine

CHECKOUT = Path(__file__).with_name("checkout.yaml")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SyncEngine]:
    with open_engine(tmp_path / "runs.db", tools=shop_tools) as engine:
        yield engine


def test_a_bank_that_is_slow_is_asked_again() -> None:
    flow = lab.load(CHECKOUT, tools=shop_tools)
    played = lab.play(flow, outcomes={"charge": [lab.error("timeout", takes=5), lab.ok()]})
    played.expect(status="done", attempts={"charge": 2}, elapsed=6)


def test_an_order_is_paid_and_sent(engine: SyncEngine) -> None:
    run = engine.run(CHECKOUT, {"order": "B-7", "total": 99})
    assert run.result() == "B-7 is on its way to Warehouse 1"


def test_a_declined_card_is_not_asked_again(engine: SyncEngine) -> None:
    run = engine.run(CHECKOUT, {"total": 5_000})
    with pytest.raises(RunFailedError, match="more than the card allows"):
        run.result()
    attempts = [event for event in engine.events(run) if event.name == "task.started"]
    assert len(attempts) == 1


def test_an_order_placed_twice_is_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_DB", str(tmp_path / "runs.db"))
    with TestClient(app) as client:
        order = {"order": "C-9", "total": 10}
        first, again = (client.post("/orders", json=order).json() for _ in range(2))
        assert first == again
        shown = client.get(f"/orders/{first['run']}")
        assert shown.json() == {"status": "done", "result": "C-9 is on its way to Warehouse 1"}
        refused = client.post("/orders", json={"order": "C-10", "total": 5_000}).json()["run"]
        assert client.get(f"/orders/{refused}").status_code == 409
