"""`anew demo`: a run that retries, is killed with `kill -9`, and resumes; then its page.

All of it is real: commands as people type them, in processes of their own, against an API that
fails on purpose, on this machine only. Just the folder they work in is a temporary one.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from shlex import join, quote
from urllib.parse import quote as url_quote

from anew.errors import ConfigError
from anew.kernel import die_with_parent
from anew.lab.server import LabServer
from anew.posix import KILLED, on_signals
from anew.runtime.databases import DEFAULT_FILE, TOKEN_FILE_END
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.stopping import signals_heard

DOCUMENT = Path(__file__).with_name("demo.yaml")
ROUTE = "idempotent"
# While this order is on its way the process is killed.
FATAL_ORDER = 3
LOOK_SECONDS = 0.01
_SERVING = re.compile(r"anew: serving (http://\S+)")


def run(words: list[str]) -> int:
    from anew.surfaces.web.files import is_built

    asked = _parser().parse_args(words)
    shows_page = sys.stdout.isatty() and not asked.no_page and is_built()
    folder = Path(tempfile.mkdtemp(prefix="anew-demo-"))
    is_kept = False
    try:
        shutil.copyfile(DOCUMENT, folder / DOCUMENT.name)
        exit_status = asyncio.run(_play(folder, shows_page=shows_page))
        is_kept = exit_status == status.DONE and not shows_page
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)
    if is_kept:
        _say(_look_around(folder))
    return exit_status


def _parser() -> ArgumentParser:
    parser = parser_for(
        "demo",
        purpose="Run a document against an API that fails on purpose, kill the process in the\n"
        "middle, resume the run, and show it on the page until Ctrl-C. Needs no network and no\n"
        "files; takes some seconds. What is not a terminal gets the commands that show the run.",
        example="anew demo\nanew demo --no-page",
    )
    parser.add_argument("--no-page", action="store_true", help="end when the run has ended")
    return parser


async def _play(folder: Path, *, shows_page: bool) -> int:
    task = asyncio.current_task()
    assert task is not None
    on_signals(signals_heard(), task.cancel)
    async with LabServer() as api:
        _say(
            f"An API that fails on purpose is at {api.url}; {DOCUMENT.name} asks it for orders,\n"
            "and delivers them one after the other.\n"
        )
        exit_status = await _run_until_killed(folder, api)
        if exit_status is None:
            exit_status = await _typed(folder, ["resume"])
        if exit_status == status.DONE:
            _say(_counted(api))
    if exit_status == status.DONE and shows_page:
        await _show_page(folder)
    return exit_status


async def _run_until_killed(folder: Path, api: LabServer) -> int | None:
    """None once the process is dead; its exit status where it ended by itself."""
    words = ["run", DOCUMENT.name, "--set", f"api={api.url}"]
    async with _command(folder, words) as process:
        printing = asyncio.ensure_future(_print_lines(process))
        while len(api.ledger.called(ROUTE)) < FATAL_ORDER and not printing.done():
            await asyncio.sleep(LOOK_SECONDS)
        if not printing.done():
            process.kill()
        await printing
        if await process.wait() != KILLED:
            return process.returncode
    _say(
        f"\n$ kill -9 {process.pid}\n"
        f"The process is gone: order {FATAL_ORDER} was on its way, and nothing could clean up.\n"
        "Every outcome before that is on disk, in one file.\n"
    )
    return None


async def _typed(folder: Path, words: list[str]) -> int:
    """Run a command to its end, and show it as if it were typed."""
    async with _command(folder, words) as process:
        await _print_lines(process)
        return await process.wait()


@asynccontextmanager
async def _command(
    folder: Path, words: list[str], *, is_shown: bool = True
) -> AsyncIterator[Process]:
    """A process of `anew` that ends with us; Ctrl-C is for us alone."""
    if is_shown:
        _say(f"$ anew {join(words)}")
    ours = {name: text for name, text in os.environ.items() if not name.startswith("ANEW_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "anew", *words),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        cwd=folder,
        env=ours | {"PYTHONUTF8": "1"},
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _print_lines(process: Process) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        _say(line.decode("utf-8", "replace").rstrip("\n"))


async def _show_page(folder: Path) -> None:
    """Serve it until somebody asks for the end."""
    words = ["serve", "--port", "0", "--no-workers"]
    async with _command(folder, words, is_shown=False) as process:
        url = await _served(process)
        token = (folder / f"{DEFAULT_FILE}{TOKEN_FILE_END}").read_text(encoding="ascii").strip()
        _say(f"\nThe page: open {url}/runs#token={url_quote(token, safe='')}\nCtrl-C ends it.")
        with suppress(asyncio.CancelledError):
            await process.wait()
            raise ConfigError("the server of the page has ended")
    _say("\nNothing of it is left. `anew init` starts one of your own.")


async def _served(process: Process) -> str:
    """The address of a server that is ready; warnings may come first."""
    assert process.stdout is not None
    printed: list[str] = []
    async for line in process.stdout:
        printed.append(line.decode("utf-8", "replace").strip())
        if found := _SERVING.match(printed[-1]):
            return found[1]
    raise ConfigError(f"the page cannot be served: {' '.join(printed)}")


def _counted(api: LabServer) -> str:
    """What the other side saw, which is what matters."""
    orders = api.ledger.called(ROUTE)
    calls, effects = sum(order.calls[ROUTE] for order in orders), sum(o.effects for o in orders)
    return (
        f"\nThe API counts {calls} calls for {len(orders)} orders, and {effects} deliveries. Order "
        f"{FATAL_ORDER} was sent again with\nits Idempotency-Key, so it was not delivered twice; "
        "those before it were not sent again."
    )


def _look_around(folder: Path) -> str:
    place = quote(str(folder))
    return (
        f"\nLook at it:   cd {place}\n"
        "              anew show last\n"
        "              anew serve       prints the address of the page\n"
        f"Remove it:    rm -r {place}\n"
        "Start yours:  anew init"
    )


def _say(text: str) -> None:
    print(text, flush=True)
