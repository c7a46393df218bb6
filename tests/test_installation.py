"""What people get who install the wheel and have nothing else: no clone, no extra, no make."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.wheels import PARTS, ROOT, STOPWATCH, Installed, Stopwatch, build, copied, pythons

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


@pytest.mark.long
def test_from_an_empty_directory_to_a_run_that_was_killed_and_resumed(
    wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Its times are printed for people; none of them decides whether the test passes."""
    watch, work = Stopwatch(), tmp_path / "work"
    work.mkdir()
    here = Installed(tmp_path / "env", sys.executable)
    here.install(wheel)
    watch.split("python -m venv, pip install")

    def anew(*words: str, cwd: Path = work) -> str:
        done = here.anew(*words, cwd=cwd)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    anew("demo")
    watch.split("anew demo")
    anew("init", "flaky-api")
    watch.split("anew init flaky-api")
    project = work / "flaky-api"
    document = project / "flaky_api.yaml"
    told = document.read_text()
    document.write_text(told.replace("retry_after: 1}", "retry_after: 3}"))
    assert document.read_text() != told
    assert re.search(r"^\d+ passed", anew("test", cwd=project), re.M)
    watch.split("an edit, anew test")
    with (
        started(here, project, "lab-server") as (_, lab),
        started(here, project, "serve", "--port", "0") as (server, line),
    ):
        [url] = re.findall(r"http://\S+", line)
        words = ["run", document.name, "--set", f"base_url={lab.strip()}"]
        there = ["--server", url, "--token-file", ".anew/anew.db.token"]
        with started(here, project, *words, *there) as (follower, _):
            assert follower.stdout is not None
            assert any("will retry" in line for line in follower.stdout)
            server.kill()
            server.wait()
            follower.kill()
        watch.split("anew serve, anew run, kill -9 in the middle")
        assert "Done in" in anew("resume", "--quiet", cwd=project)
        watch.split("anew resume, with what was left to wait")
    record_property(STOPWATCH, str(watch))


@contextmanager
def started(
    here: Installed, folder: Path, *words: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command in the background, once it has said its first line."""
    # The API is on this machine, which a server calls only if told so.
    env = here.surroundings(folder.parent) | {"ANEW_HTTP_ALLOW": "loopback"}
    command = [str(here.folder / "bin/anew"), *words]
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        try:
            yield one, one.stdout.readline()
        finally:
            one.kill()
