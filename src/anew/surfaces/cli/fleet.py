"""Workers in several processes of one machine: started, started again when they die, stopped.

Knows processes and signals only. Where the work is, and the token for it, travel in the environment
of the processes, so that no list of processes shows them.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Mapping
from random import uniform

from anew.environment import environment
from anew.posix import on_signals
from anew.runtime.databases import open_database
from anew.surfaces.cli import status
from anew.surfaces.cli.location import SERVER_VARIABLE, is_server
from anew.surfaces.cli.stopping import signals_heard
from anew.surfaces.cli.tokens import TOKEN_FILE_OPTION
from anew.surfaces.cli.worker import Duty

# Between the death of a process and the start of another in its place.
RESTART_PAUSE_SECONDS_FIRST = 0.5
RESTART_PAUSE_SECONDS_MAX = 30.0
# One that lived so long died of something new.
HEALTHY_SECONDS = 60.0


def keep_fleet(duty: Duty, processes: int) -> int:
    """Until someone asks for the end, and all have ended."""
    return asyncio.run(_keep(duty, processes))


async def _keep(duty: Duty, processes: int) -> int:
    # What is wrong with the address or the token is said once, not by every process.
    async with open_database(duty.place):
        pass
    fleet = _Fleet(duty)
    for number in signals_heard():
        on_signals([number], fleet.stop, number)
    duty.say(f"{processes} worker processes for {duty.shown}")
    await asyncio.gather(*(fleet.keep_one(number) for number in range(1, processes + 1)))
    duty.say("all worker processes have ended")
    return status.DONE


class _Fleet:
    def __init__(self, duty: Duty) -> None:
        self._duty = duty
        self._running: set[asyncio.subprocess.Process] = set()
        self._is_stopping = asyncio.Event()

    def stop(self, number: signal.Signals) -> None:
        """Pass a signal on. Asked once, it starts nothing more; each process does its own rest."""
        self._is_stopping.set()
        for process in self._running:
            if process.returncode is None:
                process.send_signal(number)

    async def keep_one(self, number: int) -> None:
        """Have one process at work, whatever happens to it, until the end is asked for."""
        pause, loop = RESTART_PAUSE_SECONDS_FIRST, asyncio.get_running_loop()
        while not self._is_stopping.is_set():
            began = loop.time()
            code = await self._lived()
            if self._is_stopping.is_set():
                return
            if loop.time() - began >= HEALTHY_SECONDS:
                pause = RESTART_PAUSE_SECONDS_FIRST
            self._duty.say(
                f"worker process {number} {_ended(code)}; starting another in {pause:g} s"
            )
            await self._rest(uniform(pause / 2, pause))
            pause = min(RESTART_PAUSE_SECONDS_MAX, pause * 2)

    async def _lived(self) -> int:
        """One life of a process; how it ended."""
        process = await asyncio.create_subprocess_exec(
            *_command(self._duty),
            # Nothing is written: its end tells the process that this one is gone.
            stdin=subprocess.PIPE,
            env=_environment(self._duty, environment()),
            start_new_session=True,
        )
        self._running.add(process)
        if self._is_stopping.is_set():  # asked for while it was being started
            process.send_signal(signal.SIGTERM)
        try:
            return await process.wait()
        finally:
            self._running.discard(process)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._is_stopping.wait()
        except TimeoutError:
            return


def _command(duty: Duty) -> list[str]:
    words = [sys.executable, "-m", "anew", "worker", "--until-eof", "--slots", str(duty.slots)]
    words += ["--drain", f"{duty.drain_seconds:g}"]
    if duty.log_format is not None:
        words += ["--log-format", duty.log_format]
    for pool in duty.pools:
        words += ["--pool", pool]
    for tools in duty.tools:
        words += ["--tools", tools]
    # They have the token already; the file is named for their sandbox to hide it. A pipe is not
    # read twice.
    if duty.token_file is not None and duty.token_file.is_file():
        words += [TOKEN_FILE_OPTION, str(duty.token_file)]
    return [*words, "--quiet"] if duty.is_quiet else words


def _environment(duty: Duty, ours: Mapping[str, str]) -> dict[str, str]:
    variable = SERVER_VARIABLE if is_server(duty.place) else "ANEW_DB"
    theirs = {name: value for name, value in ours.items() if name != SERVER_VARIABLE}
    return {**theirs, variable: duty.place}


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
