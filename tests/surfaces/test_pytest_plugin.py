"""Scenarios in a real session of pytest, with the plugin found as an installed package has it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 60
# What other packages bring is not needed here, and takes a second to import.
WITHOUT = ("-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest")
FLOW = "workflow: [{step: a, tool: {kind: noop}}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two scenarios beside a document and a test of another kind, in a project of its own."""
    here = tmp_path / "project"
    here.mkdir()
    (here / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (here / "flow.yaml").write_text(FLOW)
    (here / "flow.scenario.yaml").write_text("expect: {visits: [a]}\n")
    (here / "flow.wrong.scenario.yaml").write_text("expect: {visits: [b]}\n")
    (here / "test_other.py").write_text("def test_it():\n    pass\n")
    return here


def pytest_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest there; the package's entry points are those of this checkout."""
    packages = folder.parent / "packages"
    about = packages / "anew_checkout-0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: anew-checkout\nVersion: 0\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [f"{name} = {where}" for name, where in project["entry-points"]["pytest11"].items()]
    (about / "entry_points.txt").write_text("\n".join(["[pytest11]", *rows, ""]))
    paths = os.pathsep.join((str(packages), str(ROOT / "src")))
    return subprocess.run(
        [sys.executable, "-m", "pytest", *WITHOUT, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def test_scenarios_are_items_beside_other_tests(folder: Path) -> None:
    told = pytest_in(folder)
    assert told.returncode == 1, told.stdout + told.stderr
    assert "1 failed, 2 passed" in told.stdout
    assert 'visits: expected ["b"], found ["a"]' in told.stdout
    assert "what happened:" in told.stdout
    assert "Traceback" not in told.stdout
    assert 'FAILED flow.wrong.scenario.yaml::scenario - visits: expected ["b"]' in told.stdout


def test_the_options_of_pytest_and_its_plugins_work(folder: Path) -> None:
    told = pytest_in(folder, "-n", "1", "-k", "scenario", "--junitxml", "out.xml", "-q")
    assert told.returncode == 1, told.stdout + told.stderr
    assert "1 failed, 1 passed" in told.stdout
    (suite,) = ElementTree.parse(folder / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


def test_no_scenario_changes_the_terminal(folder: Path) -> None:
    (folder / "esc.yaml").write_text(FLOW)
    (folder / "esc.scenario.yaml").write_text('outcomes: {"\\e[31mb": {}}\nexpect: {visits: [b]}')
    (folder / "bad.scenario.yaml").write_text('document: "\\e[31mx.yaml"')
    told = pytest_in(folder, "esc.scenario.yaml", "bad.scenario.yaml")
    assert "names no task or step" in told.stdout
    assert "x.yaml does not exist" in told.stdout
    assert "\x1b[31m" not in told.stdout


def test_a_scenario_that_cannot_be_played_fails_with_a_sentence(folder: Path) -> None:
    (folder / "lost.scenario.yaml").write_text("")
    told = pytest_in(folder, "lost.scenario.yaml")
    assert told.returncode == 1
    assert "there is no document next to it: lost.yaml" in told.stdout
    assert "Traceback" not in told.stdout


def test_a_session_without_scenarios_imports_nothing_of_the_lab(folder: Path) -> None:
    (folder / "test_other.py").write_text(
        "import sys\n\n\ndef test_it():\n"
        "    loaded = [name for name in sys.modules if name.startswith('anew.')]\n"
        "    assert sorted(loaded) == ['anew.surfaces', 'anew.surfaces.pytest_plugin']\n"
    )
    told = pytest_in(folder, "test_other.py")
    assert told.returncode == 0, told.stdout


def test_the_plugin_can_be_switched_off(folder: Path) -> None:
    told = pytest_in(folder, "-p", "no:anew")
    assert "1 passed" in told.stdout


def test_documents_may_name_tools_of_the_project(folder: Path) -> None:
    (folder / "shop_tools.py").write_text("from anew import tool\n@tool\ndef charge(): ...\n")
    (folder / "flow.yaml").write_text(FLOW.replace("noop", "charge"))
    without = pytest_in(folder, "flow.scenario.yaml")
    assert "'charge' is unknown" in without.stdout
    (folder / "pytest.ini").write_text("[pytest]\nanew_tools = shop_tools\n")
    assert pytest_in(folder, "flow.scenario.yaml").returncode == 0
