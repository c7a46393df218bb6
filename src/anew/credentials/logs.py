"""Redact every log record of the process, whoever makes it and whatever handler shows it.

A filter would have to sit on every handler, those included that are added later. So records are
redacted where all of them are made. Knows `logging` and a redactor.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anew.credentials.redaction import Redactor


@contextmanager
def redacted_logs(redactor: Redactor) -> Iterator[None]:
    """Until the end no new record shows what the redactor knows by then."""
    before = logging.getLogRecordFactory()

    def made(*args: Any, **named: Any) -> logging.LogRecord:
        record = before(*args, **named)
        redact_record(record, redactor)
        return record

    logging.setLogRecordFactory(made)
    try:
        yield
    finally:
        # Whoever has put a factory around ours goes on through it.
        if logging.getLogRecordFactory() is made:
            logging.setLogRecordFactory(before)


def redact_record(record: logging.LogRecord, redactor: Redactor) -> None:
    """Take secrets out of the message with its arguments, of the traceback and of the stack."""
    try:
        said = record.getMessage()
    except Exception:
        # Arguments that do not fit, which `logging` itself would print as they are.
        said = record.msg = _joined(record.msg, record.args)
        record.args = None
    shown = redactor.redact_text(said)
    if shown is not said:
        record.msg, record.args = shown, None
    if record.exc_info and not record.exc_text:
        record.exc_text = logging.Formatter().formatException(record.exc_info)
    if record.exc_text:
        shown = redactor.redact_text(record.exc_text)
        if shown is not record.exc_text:
            # The exception itself would be shown by whoever formats it in another way.
            record.exc_text, record.exc_info = shown, None
    if record.stack_info:
        record.stack_info = redactor.redact_text(record.stack_info)


def _joined(message: object, arguments: object) -> str:
    parts = arguments if isinstance(arguments, tuple) else (arguments,)
    try:
        return " ".join(map(str, (message, *parts)))
    except Exception:
        return "a log record cannot be shown: its arguments have no text"
