"""Libraries, tools and servers that log a secret: no handler of the process shows it."""

from __future__ import annotations

import asyncio
import io
import logging
import logging.handlers
import queue
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path

import pytest

from anew.credentials import Credential, Redactor, redacted_logs
from anew.runtime.bootstrap import open_engine, open_server_engine
from anew.runtime.engine import Engine

SECRET = "correct-horse/battery-staple"
MISFIT, NO_PLACE = "sending %d of %s", "sending"
LIBRARIES = ["httpx2", "httpcore2", "psycopg", "uvicorn.error", "uvicorn.access", "asyncio", "anew"]


class Odd:
    """What a library may hand over: its text has the secret."""

    def __str__(self) -> str:
        return f"<session {SECRET}>"

    __repr__ = __str__


class Broken:
    def __str__(self) -> str:
        raise ValueError(SECRET)

    __repr__ = __str__


def plain(logger: logging.Logger) -> None:
    logger.warning(f"sending {SECRET}")


def argument(logger: logging.Logger) -> None:
    logger.warning("sending %s to %s", SECRET, "db.example")


def named_argument(logger: logging.Logger) -> None:
    logger.warning("sending %(token)s", {"token": SECRET})


def object_argument(logger: logging.Logger) -> None:
    logger.warning("sending %r", Odd())


def object_message(logger: logging.Logger) -> None:
    logger.warning(Odd())


def encoded(logger: logging.Logger) -> None:
    logger.warning("Authorization: Basic %s", b64encode(f"me:{SECRET}".encode()).decode())


def misfit(logger: logging.Logger) -> None:
    logger.warning(MISFIT, SECRET)


def too_many(logger: logging.Logger) -> None:
    logger.warning(NO_PLACE, SECRET)


def broken_argument(logger: logging.Logger) -> None:
    logger.warning("sending %s %s", Broken(), SECRET)


def traceback(logger: logging.Logger) -> None:
    try:
        raise ConnectionError(f"refused {SECRET}")
    except ConnectionError:
        logger.exception("failed")


def chained(logger: logging.Logger) -> None:
    try:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise RuntimeError("cannot continue") from error
    except RuntimeError as error:
        logger.error("failed", exc_info=error)


def noted(logger: logging.Logger) -> None:
    error = ValueError("bad value")
    error.add_note(f"it was {SECRET}")
    logger.warning("failed", exc_info=error)


def grouped(logger: logging.Logger) -> None:
    logger.error("failed", exc_info=ExceptionGroup("two", [ValueError(SECRET), KeyError("x")]))


def stack(logger: logging.Logger) -> None:
    # fmt: off
    assert "correct-horse/battery-staple"; logger.warning("here", stack_info=True)  # noqa: E702, PLW0129
    # fmt: on


WAYS = [
    plain, argument, named_argument, object_argument, object_message, encoded, misfit, too_many,
    broken_argument, traceback, chained, noted, grouped, stack,
]  # fmt: skip


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.learn(Credential("c", "bearer", {"token": SECRET}))
    return redactor


@contextmanager
def heard(logger: logging.Logger) -> Iterator[io.StringIO]:
    """What a handler of this logger writes that nobody has told of secrets.

    The logger has no other meanwhile, whatever a server of another test has made of it.
    """
    before = logger.handlers, logger.level, logger.propagate, logger.disabled
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logger.handlers, logger.propagate, logger.disabled = [handler], False, False
    logger.setLevel(logging.WARNING)
    try:
        yield lines
    finally:
        logger.handlers, level, logger.propagate, logger.disabled = before
        logger.setLevel(level)


def assert_hidden(text: str) -> None:
    assert text
    assert SECRET not in text
    assert b64encode(SECRET.encode()).decode()[4:-4] not in text


@pytest.mark.parametrize(
    ("library", "way"),
    [*(("httpx2", way) for way in WAYS), *((name, argument) for name in LIBRARIES[1:])],
    ids=lambda given: given if isinstance(given, str) else given.__name__,
)
def test_a_record_shows_no_secret(
    library: str,
    way: Callable[[logging.Logger], None],
    redactor: Redactor,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logger = logging.getLogger(library)
    with redacted_logs(redactor), heard(logger) as lines:
        way(logger)
    assert_hidden(lines.getvalue())
    # `logging` prints there what it could not format.
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("way", [traceback, chained, noted, grouped], ids=lambda way: way.__name__)
def test_a_formatter_of_its_own_gets_no_exception_to_show(
    way: Callable[[logging.Logger], None], redactor: Redactor
) -> None:
    records: queue.Queue[logging.LogRecord] = queue.Queue()
    logger = logging.Logger("own")
    logger.addHandler(handler := logging.Handler())
    handler.emit = records.put  # type: ignore[method-assign]
    with redacted_logs(redactor):
        way(logger)
    record = records.get_nowait()
    assert record.exc_info is None
    assert "[redacted]" in str(record.exc_text)


def test_records_without_a_secret_stay_as_they_are(redactor: Redactor) -> None:
    records: list[logging.LogRecord] = []
    logger = logging.Logger("own")
    logger.addHandler(handler := logging.Handler())
    handler.emit = records.append  # type: ignore[method-assign, assignment]
    with redacted_logs(redactor):
        logger.warning("%s of %d", "one", 2)
        try:
            raise ValueError("plain")
        except ValueError:
            logger.exception("failed")
    assert (records[0].msg, records[0].args) == ("%s of %d", ("one", 2))
    assert records[1].exc_info is not None


def test_the_process_has_its_own_records_back(redactor: Redactor) -> None:
    before = logging.getLogRecordFactory()
    with redacted_logs(redactor), redacted_logs(Redactor()):
        assert logging.getLogRecordFactory() is not before
    assert logging.getLogRecordFactory() is before


OPENINGS: dict[str, Callable[[str], AbstractAsyncContextManager[Engine]]] = {
    "run": open_engine,
    "serve": open_server_engine,
}


@pytest.mark.parametrize("way", [argument, misfit, traceback], ids=lambda way: way.__name__)
@pytest.mark.parametrize("opening", OPENINGS)
def test_an_engine_hides_what_it_knows(
    opening: str,
    way: Callable[[logging.Logger], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANEW_TOKEN", SECRET)

    logger = logging.getLogger("uvicorn.error")

    async def log_beside_an_engine() -> None:
        async with OPENINGS[opening](str(tmp_path / "anew.db")):
            way(logger)

    with heard(logger) as lines:
        asyncio.run(log_beside_an_engine())
    assert_hidden(lines.getvalue())
