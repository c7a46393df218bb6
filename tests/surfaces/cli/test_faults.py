"""`anew simulate --faults`: what it prints, what it returns, and that it can be had again."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path

import pytest

from anew.lab.faults import INVARIANTS, campaign
from anew.surfaces.cli import fault_runs
from anew.surfaces.cli.faults import Ink, ink_for_stdout, report_lines
from tests.lab.faults.documents import RETRIED, played

SCRIPT = """
outcomes:
  charge: [{result: {id: 7}, takes: 0.5}]
invariants:
  - effects.charge <= 1
  - status != 'done' or ctx.paid
"""
KEYED = RETRIED.replace("method: POST", "method: POST\n          idempotency_key: true")
GRAPH = """
digraph flow {
  start [shape=Mdiamond]; done [shape=Msquare]
  build [shape=parallelogram, tool_command="make", max_retries=2]
  start -> build -> done
}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("naked.yaml").write_text(RETRIED)
    Path("keyed.yaml").write_text(KEYED)
    Path("flow.dot").write_text(GRAPH)
    Path("script.yaml").write_text(SCRIPT)


def simulated(anew, *words: str, file: str = "naked.yaml"):
    return anew("simulate", file, "--script", "script.yaml", *words)


def test_a_broken_condition_is_exit_status_1_with_its_run_and_how_to_play_it_again(anew) -> None:
    told = simulated(anew, "--faults", "kill", "--runs", "100", "--seed", "3")
    assert told.status == 1
    (line,) = [line for line in told.lines if line.startswith("broken  effects.charge <= 1  in ")]
    first = line.partition("first in run ")[2].partition(":")[0]
    assert f"worst run: {first}, it breaks effects.charge <= 1" in told.lines
    assert "held    status != 'done' or ctx.paid" in told.lines
    again = f"anew simulate naked.yaml --script script.yaml --faults kill --seed 3 --only {first}"
    assert told.lines[-1] == f"again: {again}"


def test_the_last_line_has_every_option_that_matters(anew) -> None:
    words = "--faults kill=0.5 --runs 20 --events-max 16 --set a=b -j 1".split()
    told = simulated(anew, *words)
    assert "comes-to-an-end" in told.out
    assert "--events-max 16" in told.lines[-1]
    *_, command = told.lines[-1].split("again: anew simulate ")
    alone = anew("simulate", *shlex.split(command))
    assert alone.out.strip() in told.out


def test_what_the_last_line_says_plays_that_run(anew) -> None:
    told = simulated(anew, "--faults", "kill", "--runs", "100", "--seed", "3")
    *_, command = told.lines[-1].split("again: anew simulate ")
    alone = anew("simulate", *command.split())
    assert alone.status == 1
    assert alone.out.strip() in told.out


def test_what_holds_in_every_run_is_exit_status_0(anew) -> None:
    told = simulated(anew, "--faults", "kill,429", "--runs", "100", file="keyed.yaml")
    assert told.status == 0
    assert told.lines[0] == "100 runs with faults: kill 0.05, 429 0.1; seed 0"
    assert f"held    {len(INVARIANTS) + 1} invariants of the engine in all runs" in told.lines
    assert "held    effects.charge <= 1" in told.lines


def test_a_graph_is_played_like_a_playbook(anew) -> None:
    told = anew("simulate", "flow.dot", "--faults", "all", "--runs", "60", "--json")
    report = json.loads(told.out)
    assert report["runs"] == 60
    assert report["worst"]["language"] == "dot"
    assert report["tasks"]["build"]["attempts"]["max"] > 1
    assert [one["invariant"] for one in report["invariants"] if one["broken"]] == []


def test_json_is_one_object_and_the_same_however_many_processes_there_are(
    anew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault_runs, "RUNS_PER_PROCESS", 30)
    words = ("--faults", "all", "--runs", "70", "--json")
    told = [simulated(anew, *words, "-j", processes).out for processes in ("1", "2")]
    assert told[0] == told[1]
    assert set(json.loads(told[0])) == {
        *("seed", "runs", "asked", "faults", "injected", "invariants", "statuses", "errors"),
        *("seconds", "attempts", "tasks", "worst"),
    }


def test_runs_without_faults_differ_in_chance_only(anew) -> None:
    document = RETRIED.replace("delay: 2,", "delay: 2, jitter: true,")
    Path("naked.yaml").write_text(document)
    Path("script.yaml").write_text("outcomes: {charge: [{error: {kind: timeout}}, {result: {}}]}")
    report = json.loads(simulated(anew, "--runs", "20", "--json").out)
    assert (report["faults"], report["injected"], report["statuses"]) == ({}, {}, {"done": 20})
    assert report["seconds"]["max"] > report["seconds"]["p50"] > 1


def test_a_thousand_runs_are_played_unless_another_number_is_said() -> None:
    assert campaign.RUNS_DEFAULT == 1000


def test_the_seed_of_the_script_counts_unless_another_is_given(anew) -> None:
    Path("script.yaml").write_text("random: {seed: 5}")
    words = ("--faults", "slow", "--runs", "3", "--json")
    assert json.loads(simulated(anew, *words).out)["seed"] == 5
    assert json.loads(simulated(anew, *words, "--seed", "6").out)["seed"] == 6


def test_ctrl_c_leaves_what_was_played(anew, monkeypatch: pytest.MonkeyPatch) -> None:
    play = campaign.Campaign.play

    def interrupted(self: campaign.Campaign, index: int) -> campaign.FaultRun:
        if index == 8:
            raise KeyboardInterrupt
        return play(self, index)

    monkeypatch.setattr(campaign.Campaign, "play", interrupted)
    told = simulated(anew, "--faults", "kill=0", "--runs", "20")
    assert told.status == 130
    assert told.lines[0].startswith("7 runs (stopped, 20 were wanted)")


def test_ctrl_c_before_the_first_run_ends_the_command(anew, monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign.Campaign, "play", interrupted)
    told = simulated(anew, "--faults", "kill", "--runs", "20")
    assert (told.status, told.out) == (130, "")


def test_the_worst_run_is_saved_as_a_scenario_that_passes(anew) -> None:
    words = ("--faults", "429=0.5,duplicate", "--runs", "40", "--save", "worst.scenario.yaml")
    told = simulated(anew, *words)
    assert "is saved in worst.scenario.yaml" in told.err
    assert anew("test", "worst.scenario.yaml").status == 0
    assert "document: naked.yaml" in Path("worst.scenario.yaml").read_text()


def test_a_run_that_a_scenario_cannot_say_is_not_saved(anew) -> None:
    words = ("--faults", "kill=1", "--runs", "1", "--save", "worst.scenario.yaml")
    told = simulated(anew, *words)
    assert "not saved: a scenario cannot say" in told.err
    assert not Path("worst.scenario.yaml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--faults", "kil"), "there is no fault 'kil'. Did you mean 'kill'?"),
        (("--faults", "kill=7"), "the rate of kill must be a number from 0 to 1, not '7'"),
        (("--faults", "all", "--words", "events"), "--words shows one run without faults"),
        (("--runs", "100001"), "100,001 runs cannot be played at once"),
        (("--save", "x.yaml"), "--save and -j are for many runs"),
    ],
)
def test_what_cannot_be_meant_is_exit_status_2(anew, words: tuple[str, ...], told: str) -> None:
    said = simulated(anew, *words)
    assert said.status == 2
    assert told in said.err


def test_a_condition_that_cannot_be_evaluated_is_named(anew) -> None:
    Path("script.yaml").write_text("invariants: ['attempts.chrge <= 3']")
    said = simulated(anew, "--faults", "kill")
    assert said.status == 2
    assert "the invariant 'attempts.chrge <= 3' cannot be evaluated" in said.err
    assert "Did you mean 'charge'?" in said.err


def test_a_condition_that_cannot_be_evaluated_for_a_run_names_that_run(anew) -> None:
    Path("script.yaml").write_text("invariants: ['ctx.paid + 1 > 1']")
    said = simulated(anew, "--faults", "429=0.5", "--runs", "20")
    assert said.status == 1
    (line,) = [line for line in said.lines if line.startswith("broken  ctx.paid + 1 > 1  in ")]
    first = line.partition("first in run ")[2].partition(": cannot be evaluated: ")[0]
    assert f"worst run: {first}, it breaks ctx.paid + 1 > 1" in said.lines


def test_a_condition_reaches_the_terminal_visibly(anew) -> None:
    Path("script.yaml").write_text("invariants: [\"status == '\\e[31m'\"]")
    said = simulated(anew, "--faults", "kill", "--runs", "2")
    assert said.status == 1
    assert "\x1b" not in said.out


def test_a_terminal_without_blocks_gets_plain_characters(
    anew, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    lines = list(report_lines(played(RETRIED, runs=10), ink_for_stdout()))
    assert all(line.isascii() for line in lines)
    assert any("####" in line for line in lines)


def test_a_bar_is_never_empty_for_what_occurred() -> None:
    ink = Ink(lambda _, text: text, "#")
    assert (ink.bar_of(1, 1000), ink.bar_of(0, 1000), len(ink.bar_of(1000, 1000))) == ("#", "", 40)
