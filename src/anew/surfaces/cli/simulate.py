"""`anew simulate`: run a document with the real engine, scripted outcomes and no time passing."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from msgspec.structs import replace

from anew.engine.moments import moment_text
from anew.errors import ConfigError
from anew.lab.script import Script, read_script
from anew.lab.script_warnings import script_warnings
from anew.lab.simulate import EVENTS_MAX, Simulation, simulate
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, add_tools_option, count, parser_for
from anew.surfaces.cli.documents import read_document, shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.loading import compiled, program_in
from anew.surfaces.cli.overrides import add_workload_options, workload_overrides
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.rows import row_lines
from anew.values import Object, merge_deep
from anew.views.exit_status import exit_status_of
from anew.views.summary import elapsed_seconds
from anew.views.timeline import timeline_lines
from anew.views.words import WORDS

# As `lab.faults.kinds` has them, which is too much to import for a help text; a test compares.
FAULTS_HELP = """\
  kill       the worker dies or is cut off in the middle of a call, sometimes its machine
  duplicate  a report, a due time, a job, a signal or an answer comes twice, at once or later
  slow       a call takes 5 times as long or far longer; a worker comes late
  429        the other side is out for a while: 429 with Retry-After, or what fits its kind
  clock      the clock is off: by parts of a second, or set forward or back by minutes
  all        all of these"""
COLOURS = {"done": "green", "failed": "red"}


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    document = compiled(asked.file, dialect=asked.dialect)
    script = _script(asked)
    read = program_in(document, script.workload)
    if read is None:
        return status.BAD
    program = read.program
    _warn(asked, script_warnings(script, program))
    if any(one is not None for one in (asked.faults, asked.runs, asked.only)):
        from anew.surfaces.cli.simulate_faults import play_faults

        return play_faults(asked, read, script)
    if asked.save is not None or asked.j is not None:
        raise ConfigError("--save and -j are for many runs; add --faults, --runs or --only")
    simulation = simulate(
        program, script, seed=asked.seed, events_max=asked.events_max or EVENTS_MAX
    )
    _warn(asked, simulation.doubts)
    if asked.json:
        print(json.dumps(_report(simulation, asked.words)))
    else:
        _print_text(simulation, asked.words)
    return exit_status_of(simulation.status)


def _warn(asked: Namespace, problems: Iterable[str]) -> None:
    for problem in problems:
        print(f"{shown_name(asked.script)}: warning: {visible(problem)}", file=sys.stderr)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "simulate",
        purpose="Run a document with the real engine in virtual time. No tool is called: outcomes\n"
        "come from the script, and a task the script does not name succeeds with {}, a sleep\n"
        "when its time is over. A question to a person that the script does not answer waits for\n"
        "its deadline, or ends the simulation waiting.\n"
        "\n"
        "With --faults, many runs are played in which things go wrong, each as its seed draws:\n"
        f"{FAULTS_HELP}\n"
        "What must hold whatever happens is checked in every run: by an auditor of the engine's\n"
        "own invariants, and the conditions that the script has under `invariants`.",
        example="anew simulate flow.yaml --script flow.script.yaml\n"
        "anew simulate flow.yaml --set region=eu --words actions\n"
        "anew simulate flow.yaml --faults kill,429=0.3 --runs 1000 --seed 7",
    )
    parser.add_argument("file", metavar="FILE", help="the document; - is standard input")
    add_dialect_option(parser)
    add_tools_option(parser)
    parser.add_argument("--script", metavar="S", help="a YAML file with outcomes by task")
    parser.add_argument("--seed", type=int, metavar="N", help="draw random numbers from this seed")
    add_workload_options(parser)
    parser.add_argument(
        "--faults",
        metavar="F",
        help="play runs with these faults: names with commas, each with a rate or not (kill=0.1)",
    )
    parser.add_argument(
        "--runs",
        type=count,
        metavar="N",
        help="how many runs (default 1,000); without --faults they differ in chance only",
    )
    parser.add_argument("--only", type=count, metavar="I", help="play run I of them, and show it")
    parser.add_argument(
        "--save", metavar="FILE", help="write the worst of them, or that one, as a scenario"
    )
    parser.add_argument("-j", type=count, metavar="N", help="at most N processes for --runs")
    parser.add_argument(
        "--events-max",
        type=count,
        metavar="N",
        help=f"give up a run that passes this many events (default {EVENTS_MAX:,}; 100,000 for\n"
        "each of many runs)",
    )
    parser.add_argument("--words", choices=WORDS, help="print event rows in these words")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _script(asked: Namespace) -> Script:
    """The script, with what the command line lays over its workload."""
    script = Script()
    if asked.script is not None:
        script = read_script(read_document(asked.script), shown_name(asked.script))
    overrides = workload_overrides(asked.payload, asked.set)
    return replace(script, workload=merge_deep(script.workload, overrides))


def _report(simulation: Simulation, words: str | None) -> Object:
    report = simulation.report()
    if words is not None:
        report["events"] = WORDS[words](simulation.log, simulation.program)
    return report


def _print_text(simulation: Simulation, words: str | None) -> None:
    lines = timeline_lines(simulation.log, simulation.program)
    if words is not None:
        rows = WORDS[words](simulation.log, simulation.program)
        lines = row_lines(rows, moment_text(simulation.log[0].at))
    for line in lines:
        print(visible(line))
    status_word = simulation.status.value
    word = paint_for(sys.stdout)(COLOURS.get(status_word, "yellow"), status_word)
    print(f"{word} after {elapsed_seconds(simulation.log):.3f} virtual seconds")
