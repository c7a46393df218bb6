"""The application that Restate calls: `restate_app PORT FOLDER` serves it until it is killed.

Handlers as its guide writes them, on hypercorn and HTTP/2. A step is `ctx.run` of a coroutine,
which it runs faster than a plain function. Knows nothing of its server.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

from bench.peers import killing
from bench.peers.measuring import BACKOFF_SECONDS, FAILURES, Attempts

restate: Any = import_module("restate")

attempts = Attempts()


async def noop() -> int:
    return 1


async def chain(ctx: Any, steps: int) -> int:
    for _ in range(steps):
        await ctx.run_typed("step", noop)
    return steps


async def loop(ctx: Any, items: int) -> int:
    await restate.gather(*(ctx.run_typed("item", noop) for _ in range(items)))
    return items


async def flaky(ctx: Any, run: str) -> list[float]:
    return await _fail(ctx, run, delay_seconds=0.0)


async def slow(ctx: Any, run: str) -> list[float]:
    return await _fail(ctx, run, delay_seconds=BACKOFF_SECONDS)


async def noted(ctx: Any, steps: int) -> int:
    for number in range(steps):
        await ctx.run_typed("step", partial(killing.step, sys.argv[2], number))
    return steps


async def _fail(ctx: Any, run: str, *, delay_seconds: float) -> list[float]:
    """When it was called."""

    async def fail() -> None:
        attempts.call(run)

    options = restate.RunOptions(
        max_attempts=FAILURES + 1,
        initial_retry_interval=timedelta(seconds=delay_seconds),
        retry_interval_factor=1.0,
    )
    await ctx.run_typed("fail", fail, options)
    return attempts.called_at[run]


async def serve(port: str) -> None:
    service = restate.Service("bench")
    for handler in (chain, loop, flaky, slow, noted):
        service.handler()(handler)
    config = import_module("hypercorn.config").Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.loglevel = "CRITICAL"
    await import_module("hypercorn.asyncio").serve(restate.app([service]), config)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
