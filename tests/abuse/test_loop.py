"""Hostile documents do not hold the loop of a server: health is answered while they are at work.

What takes long is held by a signal, so that no test depends on how fast the machine is: a server
that did it in its loop would hold the signal, too, and health would come too late.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anew.runtime import ledger, run_starts
from anew.surfaces.api import documents
from tests.surfaces.api.served import GRAPH as TINY_GRAPH
from tests.surfaces.api.served import Site, play

HELD_SECONDS_MAX = 20.0
FILLER = "# " + "x" * 4_096 + "\n"
LONG = "{% for a in range(300) %}{% for b in range(120) %}{% endfor %}{% endfor %}"


class Held:
    """Work that goes on only when it is let go; `is_free` tells whether somebody could do so."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.is_free = False
        self._loop = asyncio.get_running_loop()
        self._let_go = threading.Event()

    def wait(self) -> None:
        self._loop.call_soon_threadsafe(self.began.set)
        self.is_free = self._let_go.wait(HELD_SECONDS_MAX)

    def let_go(self) -> None:
        self._let_go.set()


async def _health_comes_first(site: Site, held: Held, asked: asyncio.Task[Any]) -> Any:
    await held.began.wait()
    answer = await site.client.get("/healthz")
    is_first = not asked.done()
    held.let_go()
    done = await asked
    assert answer.status_code == 200
    assert is_first
    assert held.is_free, "the loop was held"
    return done


def _document(step: str, name: str = "hostile") -> str:
    return f"{FILLER}metadata: {{name: {name}}}\nworkflow:\n{step}"


NOOP = "  - step: only\n    tool: {kind: noop}\n"
GRAPH = f"{TINY_GRAPH}// {'x' * 4_096}\n"
ROUTES: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "check": ("/api/v1/check", lambda text: {"document": text}),
    "register": ("/api/v1/programs", lambda text: {"document": text}),
    "inspect": ("/api/v1/inspect", lambda text: {"document": text}),
    "start": ("/api/v1/runs", lambda text: {"document": text}),
}


@pytest.mark.parametrize("text", [_document(NOOP), GRAPH], ids=["playbook", "graph"])
@pytest.mark.parametrize("route", ROUTES)
def test_health_is_answered_while_a_document_is_compiled(
    route: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = ROUTES[route]

    async def act(site: Site) -> None:
        held, compile_ = Held(), documents._compile

        def slowly(source: documents.DocumentSource) -> documents.CompiledDocument:
            held.wait()
            return compile_(source)

        monkeypatch.setattr(documents, "_compile", slowly)
        asked = asyncio.create_task(site.client.post(path, json=body(text)))
        assert (await _health_comes_first(site, held, asked)).status_code < 300

    play(tmp_path, act)


DECISIONS = {
    "inputs of the first step": f"  - step: a\n    tool: {{kind: noop, result: '{LONG}'}}\n",
    "inputs of a later step": (
        "  - step: a\n    tool: {kind: noop}\n    next: [{step: b}]\n"
        f"  - step: b\n    tool: {{kind: noop, result: '{LONG}'}}\n"
    ),
    "condition of an arc": (
        f"  - step: a\n    tool: {{kind: noop}}\n    next: [{{step: b, when: '{LONG}'}}]\n"
        "  - step: b\n    tool: {kind: noop}\n"
    ),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_health_is_answered_while_a_decision_is_long(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(site: Site) -> None:
        held, take = Held(), ledger.take_turn

        def slowly(live: Any, boundary: Any, ctx: Any, **more: Any) -> Any:
            if ctx.allowance is None:
                held.wait()
            return take(live, boundary, ctx, **more)

        for module in (ledger, run_starts):
            monkeypatch.setattr(module, "take_turn", slowly)
        asked = asyncio.create_task(_run(site, _document(DECISIONS[name])))
        shown = await _health_comes_first(site, held, asked)
        assert shown["status"] == "done"

    play(tmp_path, act)


async def _run(site: Site, document: str) -> dict[str, Any]:
    return await site.ended(await site.started(document))


MANY = {
    "inputs": "  - step: a\n    tool:\n      kind: noop\n      result:\n"
    + "".join(f"        k{n}: '{LONG}'\n" for n in range(30)),
    "conditions": "  - step: a\n    tool: {kind: noop}\n    next:\n"
    + f"      - {{step: b, when: '{LONG}'}}\n" * 30
    + "  - step: b\n    tool: {kind: noop}\n",
}


@pytest.mark.parametrize("name", MANY)
def test_a_decision_of_endless_work_fails_with_the_limit(name: str, tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        shown = await _run(site, _document(MANY[name]))
        assert shown["status"] == "failed"
        assert shown["error"]["kind"] == "expression"
        assert "operations in the evaluations of one decision" in shown["error"]["message"]

    play(tmp_path, act)
