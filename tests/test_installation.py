"""What people get who install the wheel and have nothing else: no clone, no extra, no make."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.wheels import PARTS, ROOT, Installed, build, copied, pythons

EXTRAS = {"psycopg", "psycopg-binary", "duckdb", "pytz", "openai", "anthropic"}
POSTGRES = """\
workflow:
  - step: start
    tool: {kind: postgres, auth: shop, command: SELECT 1}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(copied(tmp_path_factory.mktemp("tree") / "anew", ROOT, PARTS))


def newcomers() -> list[object]:
    """This Python in every run, the others of this machine in long ones."""
    here = f"3.{sys.version_info.minor}"
    return [
        pytest.param(python, id=version, marks=() if version == here else pytest.mark.long)
        for version, python in pythons().items()
    ]


@pytest.mark.parametrize("python", newcomers())
def test_the_wheel_alone_is_enough_for_the_demo_and_names_its_extras(
    python: str, wheel: Path, tmp_path: Path
) -> None:
    here = Installed(tmp_path / "env", python)
    here.install(wheel)
    assert not here.packages() & EXTRAS
    work = tmp_path / "work"
    work.mkdir()
    doctor = here.anew("doctor", cwd=work)
    assert (doctor.returncode, doctor.stderr) == (0, "")
    assert "ok   page         there" in doctor.stdout
    offered = set(re.findall(r"`pip install 'anew\[(\w+)\]'`", doctor.stdout))
    assert offered == {"postgres", "duckdb", "agents"}
    (work / "flow.yaml").write_text(POSTGRES)
    assert "pip install 'anew[postgres]'" in here.anew("check", "flow.yaml", cwd=work).stdout
    refused = here.anew("runs", "--db", "postgresql://nobody@127.0.0.1:1/none", cwd=work)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    demo = here.anew("demo", cwd=work)
    assert (demo.returncode, demo.stderr) == (0, "")
    assert "The API counts 5 calls for 4 orders, and 4 deliveries." in demo.stdout


@pytest.mark.long
def test_all_extras_bring_everything(wheel: Path, tmp_path: Path) -> None:
    here = Installed(tmp_path / "env", next(iter(pythons().values())))
    here.install(wheel, "[all]")
    assert here.packages() >= EXTRAS
    doctor = here.anew("doctor", cwd=tmp_path)
    assert doctor.returncode == 0
    assert "pip install" not in doctor.stdout
