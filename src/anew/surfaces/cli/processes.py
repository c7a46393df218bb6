"""Map batches over new processes, and give the answers in order.

Ctrl-C is for whoever started the processes: they are deaf to it from their first moment, and end
with the one that reads their answers. Knows nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from anew.errors import ConfigError
from anew.posix import deaf_to_interrupts

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

OrderT = TypeVar("OrderT")
BatchT = TypeVar("BatchT")
AnswerT = TypeVar("AnswerT")
# An answer, or what was raised in its place.
_Said: TypeAlias = tuple[Any, Exception | None]

_DIED = "one of the processes running was ended from outside; try again, with -j 1 if it is memory"


def mapped(
    prepare: Callable[[OrderT], Callable[[BatchT], AnswerT]],
    order: OrderT,
    *,
    batches: Sequence[BatchT],
    processes: int,
) -> Iterator[AnswerT]:
    """What `prepare(order)` gives in each process answers the batches; what it raises is raised.

    Both functions are found by their names there. Nothing is left at work however this ends.
    """
    crew: dict[Connection, BaseProcess] = {}
    try:
        from multiprocessing import resource_tracker

        # It starts with the first process, and would leave the signal unblocked.
        resource_tracker.ensure_running()
        with deaf_to_interrupts():
            for _ in range(processes):
                crew.update([_started(prepare)])
        for link in crew:
            _told(link, order)
        yield from _in_order(_as_they_come(list(crew), batches))
    finally:
        for child in crew.values():
            child.kill()  # nobody waits for what is left
        for link, child in crew.items():
            child.join()
            link.close()


def _started(prepare: Callable[[Any], Callable[[Any], Any]]) -> tuple[Connection, BaseProcess]:
    # A forked process would share this one's threads and locks, which only `spawn` makes anew.
    from multiprocessing import get_context

    context = get_context("spawn")
    link, far_end = context.Pipe()
    child = context.Process(target=_work, args=(prepare, far_end, _tools()), daemon=True)
    child.start()
    far_end.close()  # so that the link ends with the child
    return link, child


def _as_they_come(links: list[Connection], batches: Sequence[Any]) -> Iterator[tuple[int, _Said]]:
    """Whoever is free gets the next batch, and after an error nobody does."""
    from multiprocessing.connection import wait

    at_work: dict[Connection, int] = {}
    free, todo = links, enumerate(batches)
    while True:
        for link, (number, batch) in zip(free, todo, strict=False):
            at_work[link] = number
            _told(link, batch)
        if not at_work:
            return
        ready = wait(list(at_work))
        free = [link for link in at_work if link in ready]
        for link in free:
            said = _said(link)
            todo = todo if said[1] is None else enumerate(())
            yield at_work.pop(link), said


def _in_order(answers: Iterator[tuple[int, _Said]]) -> Iterator[Any]:
    early: dict[int, _Said] = {}
    turn = 0
    for number, said in answers:
        early[number] = said
        while turn in early:
            answer, error = early.pop(turn)
            if error is not None:
                raise error
            yield answer
            turn += 1


def _told(link: Connection, what: Any) -> None:
    try:
        link.send(what)
    except OSError:
        raise ConfigError(_DIED) from None


def _said(link: Connection) -> _Said:
    try:
        said: _Said = link.recv()
    except (EOFError, OSError):
        raise ConfigError(_DIED) from None
    return said


def _tools() -> list[str]:
    """The modules of tools that this process has loaded; it imports nothing for that."""
    import sys

    modules = sys.modules.get("anew.tools.modules")
    return [] if modules is None else modules.loaded_tools()


def _work(
    prepare: Callable[[Any], Callable[[Any], Any]], link: Connection, tools: list[str]
) -> None:
    """In a new process, until there is nobody to tell."""
    import gc

    from anew.surfaces.cli.main import GARBAGE_THRESHOLD

    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        if tools:
            from anew.tools.modules import load_tools

            for named in tools:
                load_tools(named)
        answer = prepare(link.recv())
        while True:
            link.send((answer(link.recv()), None))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except Exception as error:
        link.send((None, error))
