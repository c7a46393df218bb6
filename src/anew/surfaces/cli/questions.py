"""`anew questions`: what people are asked by all runs of a database."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from shlex import quote

from anew.engine.moments import NANOSECONDS
from anew.runtime.question_inbox import QUESTIONS_MAX, InboxQuestion, QuestionInbox, inbox_of
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.paint import Paint, paint_for
from anew.views.routing_words import choices_text
from anew.views.wording import duration, joined, one_line


def run(words: list[str]) -> int:
    parser = parser_for(
        "questions",
        purpose="List the open questions of all runs, the earliest deadline first, each with the\n"
        "command that answers it.",
        example="anew questions\nanew questions --json",
    )
    parser.add_argument(
        "--limit", type=count, default=QUESTIONS_MAX, metavar="N", help="default %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_place_options(parser)
    asked = parser.parse_args(words)

    async def work(database: Database) -> int:
        found = await inbox_of(database, min(asked.limit, QUESTIONS_MAX))
        if asked.json:
            for one in found.inquiries:
                print(json.dumps(one.row()))
        else:
            _print_text(found, now=database.clock.now(), place=asked.place)
        return status.DONE

    return read(asked.place, work)


def _print_text(found: QuestionInbox, *, now: int, place: str | None) -> None:
    if not found.inquiries:
        print("nobody is asked anything", file=sys.stderr)
    paint = paint_for(sys.stdout)
    asking = Counter(one.run.run for one in found.inquiries)
    steps = Counter((one.run.run, one.question.key.step) for one in found.inquiries)
    for one in found.inquiries:
        run, step = one.run.run, one.question.key.step
        remedy = _remedy(one, open_questions=asking[run], of_step=steps[run, step])
        for line in (*_lines(one, now, paint), remedy):
            print(hinted(line, place))
    if found.is_cut:
        print("there are more questions; these come first", file=sys.stderr)


def _lines(one: InboxQuestion, now: int, paint: Paint) -> Iterator[str]:
    asked = one.question
    where = f"{one.run.run}  {one.run.program}  {asked.key.step}"
    yield f"{paint('bold', visible(where))}  {visible(_since(one, now))}"
    choices = choices_text(asked.choices)
    yield f"  {visible(joined(one_line(asked.question), choices))}"


def _remedy(one: InboxQuestion, *, open_questions: int, of_step: int) -> str:
    """What to type; which question is meant has to be said where a run or a step asks several."""
    word = "CHOICE" if one.question.choices else "TEXT"
    which = f" --step {quote(one.question.key.step)}" if open_questions > 1 else ""
    which += f" --asked {one.asked}" if of_step > 1 else ""
    return visible(f"  `anew answer {one.run.run} {word}{which}` answers")


def _since(one: InboxQuestion, now: int) -> str:
    asked = one.question
    ago = f"asked {duration(max(0, now - asked.asked_at) / NANOSECONDS)} ago"
    if asked.deadline is None:
        return ago
    left = (asked.deadline - now) / NANOSECONDS
    when = f"in {duration(left)}" if left > 0 else "as soon as somebody works on it"
    return joined(ago, f"{one.silence} {when}")
