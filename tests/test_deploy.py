"""The container files say what Anew understands: every command, flag, setting, port and path."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.cli.main import main
from anew.surfaces.cli.serve import PORT
from anew.values import parse_seconds
from tests.wheels import ROOT

CONTAINERFILE = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
OURS = {name: row for name, row in SERVICES.items() if row["image"] == "anew"}
# The command of the image, and those of the services it is used for.
COMMANDS = {
    "image": json.loads(re.findall(r"^CMD (\[.*\])$", CONTAINERFILE, re.M)[0]),
    **{name: row["command"] for name, row in OURS.items()},
}


def test_there_are_a_server_two_workers_and_a_database() -> None:
    assert {name: row["command"][0] for name, row in OURS.items()} == {
        "server": "serve",
        "worker": "worker",
    }
    assert SERVICES["worker"]["deploy"]["replicas"] == 2
    assert SERVICES["database"]["image"].startswith("docker.io/library/postgres:")
    assert 'ENTRYPOINT ["anew"]' in CONTAINERFILE


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_flag_is_in_the_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word, *words = COMMANDS[name]
    assert main([word, "--help"]) == 0
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert {flag for flag in words if flag.startswith("-")} <= known


def test_every_setting_is_documented_and_asked_for_in_the_comment() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    named = {key for row in OURS.values() for key in row["environment"]}
    assert sorted(key for key in named if f"| `{key}` |" not in page) == []
    text = json.dumps(COMPOSE)
    needed = set(re.findall(r"\$\{([A-Z_]+)", text))
    assert needed == set(re.findall(r"\$\{([A-Z_]+):\?", text)), "one has no words for its lack"
    for place in ("deploy/compose.yaml", "docs/how-to/containers.md"):
        told = (ROOT / place).read_text(encoding="utf-8")
        assert sorted(name for name in needed if f"{name}=" not in told) == [], place


def test_ports_and_paths_are_those_of_the_server() -> None:
    server = SERVICES["server"]
    assert re.findall(r"^EXPOSE (\d+)$", CONTAINERFILE, re.M) == [str(PORT)]
    assert server["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    [(port, path)] = re.findall(
        r"http://127\.0\.0\.1:(\d+)(/\w+)", server["healthcheck"]["test"][-1]
    )
    open_to_all = {row.path for row in ENDPOINTS if row.is_open}
    assert (int(port), path in open_to_all) == (PORT, True)
    worker = SERVICES["worker"]["command"]
    assert worker[worker.index("--server") + 1] == f"http://server:{PORT}"


def test_a_worker_has_time_to_drain_before_it_is_killed() -> None:
    worker = SERVICES["worker"]
    drained = parse_seconds(worker["command"][worker["command"].index("--drain") + 1])
    allowed = parse_seconds(worker["stop_grace_period"])
    assert drained is not None
    assert allowed is not None
    assert drained + 5 <= allowed


def test_the_image_is_built_of_what_is_here() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [version] = set(
        re.findall(r"^FROM docker\.io/library/python:([\d.]+)-slim", CONTAINERFILE, re.M)
    )
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    [extra] = re.findall(r"\.whl\)\[(\w+)\]", CONTAINERFILE)
    assert extra in project["optional-dependencies"]
    assert "/src/constraints.txt" in CONTAINERFILE
    assert (ROOT / "constraints.txt").is_file()
    for row in OURS.values():
        file = row.get("build", {"dockerfile": "deploy/Containerfile"})["dockerfile"]
        assert (ROOT / file).is_file()
