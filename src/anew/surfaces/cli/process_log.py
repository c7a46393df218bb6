"""The log of a server or worker: a line for each attempt, failure and end of a run it works on.

Decides which events get a line, and how lines look: plain text with the time, or JSON for whoever
collects them. What the process itself reports goes the same way. Does not know where events come
from.
"""

from __future__ import annotations

import json
import logging
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS, moment_text
from anew.store import RunId
from anew.surfaces.cli.excerpts import visible
from anew.values import Object
from anew.views.event_text import event_sentence
from anew.views.wording import place_text

FORMATS = ("plain", "json")
RUNS = logging.getLogger("anew.runs")
PROCESS = logging.getLogger("anew.process")
REQUESTS = logging.getLogger("anew.requests")


def add_log_option(parser: ArgumentParser) -> None:
    """`--log-format`, for processes that work until they are stopped."""
    parser.add_argument(
        "--log-format",
        choices=FORMATS,
        help="write a line on standard error for each attempt, failure and end of a run, as text "
        "or as JSON (default: only warnings)",
    )


def start_log(log_format: str, *, is_quiet: bool = False) -> None:
    """From now on, write every line to standard error in this format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if log_format == "json" else _PlainLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for logger in (RUNS, PROCESS, REQUESTS):
        logger.setLevel(logging.WARNING if is_quiet else logging.INFO)


def log_events(run: RunId, events: Sequence[e.Event]) -> None:
    """Write what is worth a line; for `Engine.listen`."""
    for event in events:
        level = _level(event)
        if level is not None and RUNS.isEnabledFor(level):
            text = f"run {run} {place_text(event)}: {event_sentence(event)}"
            RUNS.log(level, "%s", text, extra={"fields": _fields(run, event), "at": event.at})


def _level(event: e.Event) -> int | None:
    """How bad it is; None when it gets no line."""
    match event:
        case e.TaskProcessed():
            return logging.WARNING if event.outcome.is_error else logging.INFO
        case e.StepRedelivered() | e.RunCancelled():
            return logging.WARNING
        case e.StepFailed():
            return logging.WARNING if event.handled else logging.ERROR
        case e.RunFailed():
            return logging.ERROR
        case e.RunDone():
            return logging.INFO
        case _:
            return None


def _fields(run: RunId, event: e.Event) -> Object:
    place = {
        "step": event.step,
        "visit": event.visit,
        "iteration": event.iteration,
        "task": event.task,
        "attempt": event.attempt,
    }
    known = {name: value for name, value in place.items() if value is not None}
    return {"event": event.name, "run": str(run), **known}


def _time(record: logging.LogRecord) -> str:
    at: int = getattr(record, "at", None) or int(record.created * NANOSECONDS)
    return moment_text(at)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        row: Object = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            **getattr(record, "fields", {}),
            "message": record.getMessage(),
        }
        if record.exc_info:
            row["exception"] = self.formatException(record.exc_info)
        return json.dumps(row)


class _PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = visible(record.getMessage())
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{_time(record)} {record.levelname.lower():<7} {line}{trace}"
