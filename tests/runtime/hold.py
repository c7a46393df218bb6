"""Hold one operation at the moment that matters, let the world go on, and then let it through."""

import asyncio

import pytest

from anew.engine.state import RunStatus
from anew.store import RunFilter

PARENT = "workflow: [{step: p, tool: {kind: playbook, file: child.yaml}}]"


@pytest.fixture(autouse=True)
def _no_net_under_missed_signals(monkeypatch):
    """Looking again after a while would hide a signal that was missed."""
    monkeypatch.setattr("anew.runtime.poller.POLL_SECONDS", 3600)


class Hold:
    """Holds the first operation that is meant, before it happens or `after`, until `let_go`.

    Like the thread that writes to a disk, it goes on when whoever waits for it is cancelled. With
    an `error` it does not happen but fails.
    """

    def __init__(self, place, name, is_meant=lambda *_: True, *, after=False, error=None):
        self._operation = getattr(place, name)
        self._is_meant = is_meant
        self._after = after
        self._error = error
        self._reached = asyncio.Event()
        self._go_on = asyncio.Event()
        setattr(place, name, self._call)

    async def _call(self, *args, **kwargs):
        if self._reached.is_set() or not self._is_meant(*args):
            return await self._operation(*args, **kwargs)
        self._reached.set()
        return await asyncio.shield(asyncio.create_task(self._held(*args, **kwargs)))

    async def _held(self, *args, **kwargs):
        answer = await self._operation(*args, **kwargs) if self._after else None
        await self._go_on.wait()
        if self._error is not None:
            raise self._error
        return answer if self._after else await self._operation(*args, **kwargs)

    async def reached(self):
        await asyncio.wait_for(self._reached.wait(), 10)

    def let_go(self):
        self._go_on.set()


def starts_a_child(commit):
    return commit.new is not None and commit.new.parent is not None


def with_a_child(folder, tool="{kind: gate}"):
    (folder / "child.yaml").write_text(f"workflow: [{{step: c, tool: {tool}}}]")


async def child_of(world, run):
    return (await world.database.archive.runs(RunFilter(parent=run)))[0]


async def until_ended(world, run, status=RunStatus.DONE):
    async with asyncio.timeout(10):
        while (await world.database.archive.run(run)).status is not status:
            await asyncio.sleep(0.001)
