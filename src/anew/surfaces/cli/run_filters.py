"""The options that say which runs: the same for every command that looks for them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.errors import ConfigError
from anew.runtime.run_search import digests_of
from anew.store import Database, RunFilter
from anew.surfaces.cli.arguments import count
from anew.surfaces.cli.moments import moment_said
from anew.surfaces.moments import moment_ahead

STATUSES = tuple(word.value for word in RunStatus if word is not RunStatus.NEW)
TRUTHS = {"true": True, "false": False}
STATES = tuple(word.value for word in DetailedStatus)


def add_filter_options(parser: ArgumentParser) -> None:
    repeated = "may be repeated"
    parser.add_argument("--status", action="append", default=[], choices=STATUSES, help=repeated)
    parser.add_argument(
        "--state",
        action="append",
        default=[],
        choices=STATES,
        metavar="STATE",
        help=f"its state ({', '.join(STATES)}); {repeated}",
    )
    parser.add_argument("--program", metavar="NAME", help="runs of this program")
    parser.add_argument(
        "--version", type=count, metavar="N", help="of this registered version of --program"
    )
    parser.add_argument("--retrying", action="store_true", help="runs that wait for a retry")
    parser.add_argument(
        "--attempt", type=count, metavar="N", help="a step is at this attempt or a later one"
    )
    parser.add_argument("--due-within", metavar="TIME", help="a retry is due within 10m, 2h")
    parser.add_argument("--error-kind", metavar="KIND", help="failed with this kind of error")
    parser.add_argument("--fingerprint", metavar="HEX", help="failed with it (`anew failures`)")
    parser.add_argument("--retried", choices=TRUTHS, help="whether it was retried")
    parser.add_argument(
        "--text", metavar="TEXT", help="found in its id, program, key, labels or error message"
    )
    parser.add_argument("--since", metavar="WHEN", help="30m, 2h, 1d, or an ISO date")
    parser.add_argument("--until", metavar="WHEN", help="started before then")
    parser.add_argument("--label", action="append", default=[], metavar="K=V")


async def filter_said(asked: Namespace, database: Database) -> RunFilter:
    """What the options mean now; ConfigError when one cannot be used."""
    now = database.clock.now()
    due = asked.due_within
    return RunFilter(
        # Tuples, as in a filter without options: then they are the same.
        statuses=tuple(RunStatus(word) for word in asked.status),
        states=tuple(DetailedStatus(word) for word in asked.state),
        program=asked.program,
        digests=await digests_of(database.catalog, asked.program, asked.version),
        retrying=asked.retrying,
        attempt_min=asked.attempt,
        due_before=None if due is None else moment_ahead(due, now=now),
        error_kind=asked.error_kind,
        fingerprint=asked.fingerprint,
        text=asked.text or None,
        is_retried=TRUTHS.get(asked.retried),
        since=None if asked.since is None else moment_said(asked.since, now=now),
        until=None if asked.until is None else moment_said(asked.until, now=now),
        labels=dict(map(_label, asked.label)),
    )


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"--label {text[:80]!r} is not of the form name=value")
    return name, value
