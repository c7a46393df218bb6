"""The options that say which runs: the same for every command that looks for them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.store import Database, RunFilter
from anew.surfaces.cli.arguments import count
from anew.surfaces.run_filters import run_filter_of

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
    parser.add_argument(
        "--running-longer-than", metavar="TIME", help="started 10m, 2h ago and has not ended"
    )
    parser.add_argument("--label", action="append", default=[], metavar="K=V")


async def filter_said(asked: Namespace, database: Database) -> RunFilter:
    """What the options mean now; ConfigError when one cannot be used."""
    words = vars(asked) | {"retried": TRUTHS.get(asked.retried)}
    return await run_filter_of(words, database, label_option="--label ", zone=None)
