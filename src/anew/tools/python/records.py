"""Send each log record of the author's code to the worker as it is made.

So that the records of code that crashes are kept too. Knows `logging` and one channel.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from anew.tools.python.running import MODULE_NAMES

# Of one record; the worker bounds them together.
RECORD_CHARS_MAX = 20_000

# What Python's own default hides (INFO) is what authors want to see in a task's log.
_LEVEL = logging.INFO


class Sender(logging.Handler):
    """The root logger's only handler while code runs."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._send = send
        self._pid = os.getpid()
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        # A fork shares our channel but not our lock on it; its records would tear ours apart.
        if os.getpid() != self._pid:
            return
        try:
            text = self.format(record)[:RECORD_CHARS_MAX]
            message = text.encode(errors="backslashreplace").decode()
            row = {"level": record.levelname, "logger": record.name, "message": message}
            self._send({"log": row})
        except Exception:  # as every handler: logging must not break the code that logs
            self.handleError(record)


def attach(sender: Sender) -> None:
    """Make the root logger what it is for every code at its start."""
    root = logging.getLogger()
    root.handlers[:] = [sender]
    root.setLevel(_LEVEL)
    logging.disable(logging.NOTSET)


class Loggers:
    """How the other loggers were set before the code, to be put back after it.

    Code that adds a handler each time it runs would otherwise print every line once more per run.
    """

    def __init__(self) -> None:
        self._before = {name: _settings(logger) for name, logger in _loggers()}

    def put_back(self) -> None:
        """Loggers that no imported module is named after were the code's own: they start afresh."""
        for name, logger in _loggers():
            top = name.partition(".")[0]
            if name in self._before:
                _set(logger, self._before[name])
            elif top not in sys.modules or top in MODULE_NAMES:
                _set(logger, ([], logging.NOTSET, True, False))


_Settings: TypeAlias = tuple[list[logging.Handler], int, bool, bool]


def _settings(logger: logging.Logger) -> _Settings:
    return list(logger.handlers), logger.level, logger.propagate, logger.disabled


def _set(logger: logging.Logger, settings: _Settings) -> None:
    # `attach` makes loggers forget what level they had found.
    logger.handlers[:], logger.level, logger.propagate, logger.disabled = settings


def _loggers() -> list[tuple[str, logging.Logger]]:
    known = logging.getLogger().manager.loggerDict
    return [(name, each) for name, each in known.items() if isinstance(each, logging.Logger)]
