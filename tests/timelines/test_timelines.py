"""Every log that an earlier version wrote is still derived to the last event. None may get lost."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anew.engine.events import EVENTS, Event
from anew.engine.fold import fold
from anew.lab.replay import Replayed, posing_as, replayed
from anew.lab.replay.log_file import event_of, read_rows
from anew.languages import load_text
from anew.program.program import Program
from anew.surfaces.cli.main import main

FOLDER = Path(__file__).parent
CHECKSUMS = FOLDER / "checksums.txt"
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if path.name[0].isdigit())
LOGS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.jsonl"))

# A log that cannot be derived any more, from which event on, and why that is right.
NOT_DERIVED = {
    "0.1.0-durable/signals.jsonl": (6, "a `wait` was a tool that no engine could call yet"),
    "0.1.0-graphs/signals.jsonl": (6, "a `wait` was a tool that no engine could call yet"),
}


def kept() -> dict[str, str]:
    """The name of every file that must be here, and its checksum."""
    rows = (line.split() for line in CHECKSUMS.read_text().splitlines())
    return {name: checksum for checksum, name in rows}


def files() -> dict[str, str]:
    found = (path for version in VERSIONS for path in (FOLDER / version).iterdir())
    return {
        path.relative_to(FOLDER).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
    }


def program_of(source: str, file: str, first: Event) -> Program:
    loaded = load_text(source, file)
    assert loaded.program is not None, loaded.findings
    return posing_as(loaded.program, first)


def derived(source: str, file: str, log: list[Event]) -> Replayed:
    return replayed(program_of(source, file, log[0]), log, is_rounded=True)


def simulations(version: str) -> Iterator[dict[str, Any]]:
    packed = gzip.decompress((FOLDER / version / "simulated.jsonl.gz").read_bytes())
    return map(json.loads, packed.splitlines())


def log_of(name: str) -> list[Event]:
    return read_rows((FOLDER / name).read_text().splitlines(), name)


def test_no_golden_log_is_lost_or_changed() -> None:
    expected = kept()
    assert expected
    assert files() == expected, "golden files are added to checksums.txt, and never changed"


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_an_earlier_version_is_derived_again(name: str) -> None:
    log = log_of(name)
    document = next(FOLDER.glob(f"{name.removesuffix('.jsonl')}.[yd]*"))
    found = derived(document.read_text(), document.name, log)
    if name in NOT_DERIVED:
        assert found.difference is not None
        assert found.difference.seq == NOT_DERIVED[name][0]
    else:
        assert found.difference is None
        assert found.events == len(log)
    assert fold(log).is_final


@pytest.mark.parametrize("version", VERSIONS)
def test_the_simulations_of_an_earlier_version_are_derived_again(version: str) -> None:
    count = 0
    for case in simulations(version):
        for log in runs_in([event_of(row) for row in case["rows"]]):
            found = derived(case["source"], case["file"], log)
            assert found.difference is None, (case["id"], found)
            count += 1
    assert count > 10


def runs_in(log: list[Event]) -> Iterator[list[Event]]:
    """The logs of a line of runs, one after the other."""
    begins = [index for index, event in enumerate(log) if event.seq == 1]
    for begin, end in zip(begins, [*begins[1:], len(log)], strict=True):
        yield log[begin:end]


def test_every_kind_of_event_is_among_them() -> None:
    assert {event.name for name in LOGS for event in log_of(name)} == set(EVENTS)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_database_of_an_earlier_version_is_opened_and_its_runs_are_derived_again(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "runs.db"
    place.write_bytes(gzip.decompress((FOLDER / version / "runs.db.gz").read_bytes()))
    db = f"sqlite:///{place}"
    assert main(["runs", "--json", "--db", db]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    refused = [row for row in rows if f"{version}/{row['program']}.jsonl" in NOT_DERIVED]
    runs = [row["run"] for row in rows if row not in refused]
    assert len(runs) + len(refused) >= 7
    assert main(["replay", *runs, "--json", "--db", db]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["is_equal"] for one in told] == [True] * len(runs)
