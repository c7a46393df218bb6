"""`anew simulate --faults`: many runs in which things go wrong, or one of them by its number."""

from __future__ import annotations

import json
import os
import shlex
from argparse import Namespace

from anew.errors import ConfigError
from anew.lab.faults.campaign import (
    FAULT_EVENTS_MAX,
    RUNS_DEFAULT,
    SEED_DEFAULT,
    Campaign,
    FaultReport,
    FaultRun,
    campaign_of,
    check_runs,
)
from anew.lab.faults.kinds import read_faults
from anew.lab.script import Script
from anew.surfaces.cli import status
from anew.surfaces.cli.documents import shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.fault_runs import Order, report_of
from anew.surfaces.cli.faults import Ink, ink_for_stdout, report_lines, run_lines, why_worst
from anew.surfaces.cli.loading import Read


def play_faults(asked: Namespace, read: Read, script: Script) -> int:
    """Exit status 0 when everything that must hold held in every run, 1 when it did not."""
    if asked.words is not None:
        raise ConfigError("--words shows one run without faults; leave it out")
    runs, processes = asked.runs or RUNS_DEFAULT, asked.j or os.cpu_count() or 1
    check_runs(runs)
    rates = {} if asked.faults is None else read_faults(asked.faults)
    seed = _seed(asked, script)
    events_max = asked.events_max or FAULT_EVENTS_MAX
    campaign = campaign_of(read.program, script, rates=rates, seed=seed, events_max=events_max)
    if asked.only is not None:
        return _play_one(asked, campaign)
    order = Order(
        read.source, shown_name(asked.file), read.dialect, script, rates, seed, events_max
    )
    report = report_of(order, campaign, runs=runs, processes=processes)
    worst = campaign.play(_worst(report))
    if asked.json:
        print(json.dumps(report.report()))
    else:
        _print(asked, report, worst, ink_for_stdout())
    _save(asked, worst)
    if len(report.records) < runs:
        return status.CANCELLED
    return status.DONE if report.holds else status.FAILED


def _seed(asked: Namespace, script: Script) -> int:
    if asked.seed is not None:
        return int(asked.seed)
    return SEED_DEFAULT if script.seed is None else script.seed


def _play_one(asked: Namespace, campaign: Campaign) -> int:
    run = campaign.play(asked.only)
    if asked.json:
        print(json.dumps(run.report()))
    else:
        for line in run_lines(run, ink_for_stdout()):
            print(line)
    _save(asked, run)
    return status.FAILED if run.broken else status.DONE


def _save(asked: Namespace, run: FaultRun) -> None:
    if asked.save is not None:
        from anew.surfaces.cli.fault_scenario import save

        save(asked, run)


def _worst(report: FaultReport) -> int:
    assert report.worst is not None  # Ctrl-C before the first run ends the command
    return report.worst.index


def _print(asked: Namespace, report: FaultReport, worst: FaultRun, ink: Ink) -> None:
    for line in report_lines(report, ink):
        print(line)
    assert report.worst is not None
    print()
    print(f"{ink.paint('bold', f'worst run: {worst.index}')}, {visible(why_worst(report.worst))}")
    for line in run_lines(worst, ink):
        print(line)
    print()
    print(f"again: {visible(_again(asked, report, worst.index))}")


def _again(asked: Namespace, report: FaultReport, index: int) -> str:
    """The command that plays one run of these."""
    words = ["anew", "simulate", asked.file]
    for option in ("dialect", "script", "payload", "faults"):
        if getattr(asked, option) is not None:
            words += [f"--{option}", getattr(asked, option)]
    for named in asked.tools:
        words += ["--tools", named]
    for setting in asked.set:
        words += ["--set", setting]
    if asked.events_max is not None:
        words += ["--events-max", str(asked.events_max)]
    words += ["--seed", str(report.campaign.seed), "--only", str(index)]
    return " ".join(shlex.quote(word) for word in words)
