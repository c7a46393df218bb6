"""`anew show`: one run in words: what it does or waits for, until when and why; then its steps."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.runtime.records import Record, report_of_record
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.columns import columns_of, fit, wide
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import add_run_argument, read, read_record
from anew.surfaces.cli.lanes import COLOUR_OF_STATUS
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import local_clock, local_moment
from anew.surfaces.cli.open_questions import asking_lines, command_for
from anew.surfaces.cli.paint import Paint, paint_for
from anew.surfaces.cli.runs import COLOURS
from anew.surfaces.cli.unattended import interruption_of, is_left_alone, neglect_of
from anew.values import Value, json_text
from anew.views.interruptions import INTERRUPTED
from anew.views.progress import Progress
from anew.views.step_progress import StepProgress
from anew.views.verdict import verdict
from anew.views.wording import counted, error_text, one_line

STEPS_MAX = 40
NAME_COLUMNS_MAX = 28
RESULT_CHARACTERS_MAX = 2_000


def run(words: list[str]) -> int:
    parser = parser_for(
        "show",
        purpose="Show one run: what it does or waits for, its steps, its error or its result.",
        example="anew show last\nanew show 7351 --json",
    )
    add_run_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    asked = parser.parse_args(words)

    from anew.runtime.questions import is_blocked

    async def work(database: Database) -> int:
        record = await read_record(database, asked.run, with_damage=True)
        now = database.clock.now()
        if is_open := record.damage is None and not record.progress.is_final:
            blocked = await is_blocked(database.archive, record.row.run, now)
            record = _with_interruption(record, asked.place, is_blocked=blocked)
        if asked.json:
            print(json.dumps(report_of_record(record, now=now)))
            return _told_damage(record, asked.place)
        for line in show_lines(record, now, columns=columns_of(sys.stdout), paint=_paint()):
            print(hinted(line, asked.place))
        if not is_open:
            return _told_damage(record, asked.place)
        if is_left_alone(asked.place):
            print(f"\n{hinted(unattended_text(record, is_blocked=blocked), asked.place)}")
        elif database.is_shared:
            run, last_at = record.row.run, record.progress.last_at
            if told := await neglect_of(database, run, last_at=last_at, place=asked.place):
                print(f"\n{visible(told[:1].upper() + told[1:])}.")
        return status.DONE

    return read(asked.place, work)


def _with_interruption(record: Record, place: str | None, *, is_blocked: bool) -> Record:
    """Note that no process works on the run, unless it waits for others or is paused anyhow."""
    if is_blocked or record.row.status is RunStatus.PAUSED:
        return record
    return replace(record, interrupted=interruption_of(place))


def _told_damage(record: Record, place: str | None) -> int:
    """Say what to do about a damaged run; the exit status."""
    if record.damage is None:
        return status.DONE
    sys.stdout.flush()
    print(f"anew: {visible(hinted(str(record.damage), place))}", file=sys.stderr)
    return status.UNREACHABLE


def unattended_text(record: Record, *, is_blocked: bool) -> str:
    """What to do when no process works on a run that has not ended.

    `is_blocked`: only people or signals can move it on.
    """
    run, still = record.row.run, record.blocked_on
    if not is_blocked or still is None or record.row.status is RunStatus.PAUSED:
        return f"No process is working on it: `anew resume {run}` resumes it."
    command = command_for(run, still)
    if not still.questions:  # a signal is only kept
        return f"No process is working on it: `{command}` sends it, `anew resume {run}` resumes it."
    has_deadline = any(asked.deadline is not None for asked in still.questions)
    deadline = f", `anew resume {run}` keeps its deadline" if has_deadline else ""
    return f"No process is working on it: `{command}` continues it{deadline}."


def _paint() -> Paint:
    return paint_for(sys.stdout)


def show_lines(record: Record, now: int, *, columns: int, paint: Paint) -> Iterator[str]:
    """The run from the top: who, how it stands, step by step, and what came of it."""
    row, progress = record.row, record.progress
    if record.interrupted is not None:
        word = paint(COLOURS[INTERRUPTED], INTERRUPTED)
    else:
        word = paint(COLOURS.get(row.status, "bold"), row.status.value)
    started = local_moment(row.created_at)
    yield f"run {row.run}  {word}  {visible(row.program)}  started {started}"
    for name, value in row.labels.items():
        yield visible(f"label {name} = {value}")
    yield ""
    if record.damage is None:
        yield from _verdict_lines(record, now)
    else:
        yield visible(f"Damaged at event {record.damage.seq}: {record.damage.reason}.")
        yield f"  {counted(len(record.log), 'event')} before that can be read."
    if progress.steps:
        yield ""
        yield from _step_lines(progress, columns, paint)
    yield from _ending(record)


def _verdict_lines(record: Record, now: int) -> Iterator[str]:
    told = verdict(
        record.progress,
        record.state,
        now=now,
        jobs=record.jobs,
        children=record.children,
        lost=record.lost,
        interrupted=record.interrupted,
        clock=partial(local_clock, now=now),
    )
    first, *details = told.lines(now)
    due = f" (at {local_clock(told.until, now)})" if told.until is not None else ""
    yield visible(f"{first}{due}")
    details += asking_lines(record.row.run, record.blocked_on)
    yield from (visible(f"  {detail}") for detail in details)


def _step_lines(progress: Progress, columns: int, paint: Paint) -> Iterator[str]:
    steps = list(progress.steps.values())
    name = min(NAME_COLUMNS_MAX, columns // 3, max(wide(step.name) for step in steps))
    for step in steps[:STEPS_MAX]:
        word = f"{step.shown_status.value:<9}"
        colour = COLOUR_OF_STATUS.get(step.shown_status)
        start = f"{fit(step.name, name)}  {paint(colour, word) if colour else word}"
        room = columns - name - 2 - 9 - 2
        yield f"{start}  {fit(_about(step, progress), room, pad=False)}".rstrip()
        if step.reply:
            yield f"{' ' * name}  {fit(f'replied: {step.reply}', columns - name - 2, pad=False)}"
    if len(steps) > STEPS_MAX:
        yield f"and {counted(len(steps) - STEPS_MAX, 'more step')}"


def _about(step: StepProgress, progress: Progress) -> str:
    parts = []
    if step.visits > 1:
        parts.append(counted(step.visits, "visit"))
    if step.loop is not None:
        parts.append(f"{step.loop.done:,} of {counted(step.loop.total, 'item')} done")
        parts += [f"{step.loop.failed:,} failed"] if step.loop.failed else []
    parts += [step.verdict] if step.verdict else []
    parts.append(counted(step.attempts, "attempt"))
    parts += progress.ignored.of_step(step.name)
    if step.passed_on is not None:
        parts.append(step.passed_on)
    elif step.error is not None and step.status.value == "failed":
        handled = "handled: " if step.is_handled else ""
        parts.append(f"{handled}{error_text(step.error)}")
    elif step.trouble and step.is_live:
        parts.append(f"last: {step.trouble}")
    return " · ".join(parts)


def _ending(record: Record) -> Iterator[str]:
    failure, result = record.state.failure, record.progress.result
    if failure is not None:
        yield ""
        yield f"error: {visible(' '.join(str(failure.get('message')).split()))}"
        more = {k: v for k, v in failure.items() if k not in ("message", "retryable")}
        yield f"  {visible(one_line(json_text(more)))}"
    elif result is not None and record.state.is_final:
        yield ""
        yield f"result: {visible(_short(result))}"


def _short(result: Value) -> str:
    text = json_text(result)
    if len(text) <= RESULT_CHARACTERS_MAX:
        return text
    return f"{text[:RESULT_CHARACTERS_MAX]}… (`--json` has all of it)"
