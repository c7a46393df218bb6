"""Every example plays as the timeline beside it says, through the real `anew simulate`.

`NAME.yaml` or `NAME.dot` is a document; `NAME.script.yaml` and `NAME.VARIANT.script.yaml` play it,
and each has its own `….timeline.txt`. `NAME.VARIANT.scenario.yaml` is for `anew test`. After a change that is meant to alter timelines, rewrite them with

    ANEW_UPDATE_TIMELINES=1 python -m pytest tests/test_examples.py

and read the difference before committing it.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
SCRIPT_SUFFIX = ".script.yaml"
TIMELINE_SUFFIX = ".timeline.txt"
IS_UPDATING = os.environ.get("ANEW_UPDATE_TIMELINES") == "1"

# What needs a package of its own to be installed is tested by itself (test_own_tool.py), and so is a
# graph whose node types only the program beside it knows.
PACKAGES = [path.parent for path in (ROOT / "examples").rglob("pyproject.toml")]
PACKAGES.append(ROOT / "examples/own_nodes")
FILES = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "examples").rglob("*.*")
    if not any(package in path.parents for package in PACKAGES)
)
SCRIPTS = [path for path in FILES if path.name.endswith(SCRIPT_SUFFIX)]
TIMELINES = [path for path in FILES if path.name.endswith(TIMELINE_SUFFIX)]
SUFFIXES = (".yaml", ".dot")
SCENARIOS = [path for path in FILES if path.name.endswith(".scenario.yaml")]
DOCUMENTS = [
    path for path in FILES if path.suffix in SUFFIXES and path not in (*SCRIPTS, *SCENARIOS)
]
# Where a warning is the point: a variable that has to be given when it is run, and documents of the
# specifications, which are kept as they were found.
WARNED = {
    "examples/graphs/agents/variables.dot",
    "examples/seeds/s2_rules.yaml",
    "examples/seeds/s3_best_practices.yaml",
    "examples/seeds/s3_duckdb.yaml",
    "examples/seeds/s3_postgres.yaml",
}


def document_of(script: Path) -> Path:
    name, _, _ = script.name.partition(".")
    possible = [script.with_name(f"{name}{suffix}") for suffix in SUFFIXES]
    return next((path for path in possible if path in DOCUMENTS), possible[0])


def timeline_of(script: Path) -> Path:
    return script.with_name(script.name.removesuffix(SCRIPT_SUFFIX) + TIMELINE_SUFFIX)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def simulated(script: Path, capsys: pytest.CaptureFixture[str]) -> str:
    main(["simulate", str(document_of(script)), "--script", str(script)])
    printed = capsys.readouterr()
    # A failed run is a timeline too; a command that could not play it prints none.
    assert printed.out, printed.err
    return printed.out


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_an_example_plays_as_its_timeline_says(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, timeline = simulated(script, capsys), timeline_of(script)
    if IS_UPDATING:
        timeline.write_text(told, encoding="utf-8")
    assert timeline.exists(), (
        f"{timeline} is missing; the docstring of this file says how to make it"
    )
    kept = timeline.read_text(encoding="utf-8")
    assert told == kept, difference(kept, told, timeline)


def difference(kept: str, told: str, timeline: Path) -> str:
    lines = unified_diff(
        kept.splitlines(), told.splitlines(), str(timeline), "anew simulate", lineterm=""
    )
    return "\n".join(["the timeline changed:", *lines])


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_an_example_has_no_errors(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exit_status = main(["check", str(document)])
    assert exit_status == 0, capsys.readouterr().out


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_an_example_has_a_warning_only_where_that_is_the_point(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_status = main(["check", "--fail-on", "warning", str(document)])
    assert (exit_status != 0) is (document.as_posix() in WARNED), capsys.readouterr().out


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_an_example_has_a_script(document: Path) -> None:
    assert document in map(document_of, SCRIPTS)


def test_every_scenario_of_an_example_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(SCENARIOS) > 10
    exit_status = main(["test", *map(str, SCENARIOS)])
    assert exit_status == 0, capsys.readouterr().out


def test_every_script_plays_a_document_and_every_timeline_has_a_script() -> None:
    assert [script for script in SCRIPTS if document_of(script) not in DOCUMENTS] == []
    assert set(TIMELINES) - set(map(timeline_of, SCRIPTS)) == set()


def test_the_list_of_examples_names_every_document_or_its_folder() -> None:
    listed = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    inside = [path.relative_to("examples") for path in DOCUMENTS]
    assert [
        path.as_posix()
        for path in inside
        if f"({path.as_posix()})" not in listed and f"({path.parent.as_posix()})" not in listed
    ] == []
