"""NodeNames and paths that lead elsewhere: what we write or read by a name stays in its folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from anew.errors import ConfigError
from anew.runtime.child_files import read_child
from anew.surfaces.cli.main import main
from anew.tools.agent.backends.shared_files import folder_name
from anew.views.export.names import NAME_BYTES_MAX, NodeNames

NAMES = {
    "up": "..",
    "here": ".",
    "up and away": "../../../../tmp/evil",
    "up with backslashes": "..\\..\\evil",
    "the root": "/etc/passwd",
    "a drive": "C:\\evil",
    "a share": "\\\\host\\share",
    "a home": "~root/.ssh",
    "a NUL": "a\0b",
    "a line end": "a\nb",
    "an escape sequence": "\x1b[2J",
    "a wide slash": "a／..／b",
    "a slash that is a division": "a∕..∕b",
    "a point that is a leader": "․․/x",
    "half a surrogate pair": "\ud800",
    "text that runs backwards": "\u202egnp.exe",
    "a device of Windows": "CON",
    "a device with an ending": "nul.txt",
    "a stream of Windows": "file:stream",
    "an option": "--force",
    "a hidden file": ".bashrc",
    "a point at the end": "name.",
    "a space at the end": "name ",
    "nothing": "",
    "very long": "x" * 5000,
    "very long in marks": "\u0301" * 5000,
    "a wild card": "*",
    "a command": "$(touch evil)",
    "a percent": "%2e%2e%2f",
}  # fmt: skip


def is_one_plain_component(name: str) -> bool:
    return (
        0 < len(os.fsencode(name)) <= 255
        and not set(name) & set('/\\:\0*?"<>|\n\r')
        and name not in (".", "..")
        and name.isprintable()
        and not name.startswith(("-", ".", "~"))
    )


@pytest.mark.parametrize("attack", NAMES)
def test_an_export_gives_a_node_a_plain_file_name(attack: str) -> None:
    names = NodeNames()
    given = names.of(NAMES[attack])
    assert is_one_plain_component(given)
    assert len(os.fsencode(given)) <= NAME_BYTES_MAX + 20
    assert names.of(given) != given or given == NAMES[attack]  # nobody else's


# No document can have half a surrogate pair: test_dot.py and test_yaml.py see to it.
@pytest.mark.parametrize("attack", [name for name in NAMES if "surrogate" not in name])
def test_an_agent_works_in_a_folder_below_its_own(attack: str) -> None:
    assert is_one_plain_component(folder_name(NAMES[attack]))


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """The folder of a document, with something worth stealing beside it."""
    folder = tmp_path / "parent"
    folder.mkdir()
    (tmp_path / "secret.yaml").write_text("secret: 1")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.yaml").write_text("secret: 2")
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "folder").symlink_to(tmp_path / "other")
    (folder / "circle").symlink_to(folder / "circle")
    os.mkfifo(folder / "pipe")
    (folder / "large.yaml").write_bytes(b"x" * ((1 << 20) + 1))
    return folder


CHILDREN = {
    "up": "../secret.yaml",
    "down and up": "a/../../secret.yaml",
    "a link": "link.yaml",
    "a link in the way": "folder/secret.yaml",
    "a link to itself": "circle",
    "the root": "/etc/passwd",
    "a device": "/dev/zero",
    "a process": "/proc/self/environ",
    "a folder": ".",
    "a pipe": "pipe",
    "a NUL": "a\0.yaml",
    "very long": "x" * 5000,
    "too large": "large.yaml",
    "nothing there": "none.yaml",
    "half a surrogate pair": "\ud800.yaml",
}


@pytest.mark.parametrize("attack", CHILDREN)
def test_a_child_document_of_a_graph_lies_beside_it(parent: Path, attack: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as refused:
        read_child(parent, CHILDREN[attack], is_confined=True)
    assert "secret: " not in str(refused.value)


# Graphs may name nodes as they like; playbooks may not, and say so.
STEPS = ["../../evil", "/tmp/evil", "..", "a/b", "a\\b", "CON", "-rf", "~", "a b"]


@pytest.mark.parametrize("step", STEPS)
def test_an_export_writes_nothing_outside_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    work = tmp_path / "a" / "b" / "work"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.setenv("ANEW_DB", str(work / "anew.db"))
    monkeypatch.setenv("ANEW_SYNCHRONOUS", "NORMAL")
    tool = {"kind": "noop", "result": {"x": 1}}
    document = {"metadata": {"name": "x"}, "workflow": [{"step": step, "tool": tool}]}
    (work / "steps.yaml").write_text(json.dumps(document))
    outside = set(tmp_path.rglob("*"))
    if main(["run", "steps.yaml", "--quiet"]) == 0:
        assert main(["export", "last", "out"]) == 0
        assert (work / "out").is_dir()
    made = set(tmp_path.rglob("*")) - outside
    assert all(path.is_relative_to(work) for path in made)


def test_an_export_does_not_write_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANEW_DB", str(tmp_path / "anew.db"))
    (tmp_path / "x.yaml").write_text(
        "metadata: {name: x}\nworkflow: [{step: one, tool: {kind: noop}}]\n"
    )
    assert main(["run", "x.yaml", "--quiet"]) == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_text("kept")
    (tmp_path / "out").symlink_to(tmp_path / "mine")
    for words in (["export", "last", "out"], ["export", "last", "out", "--force"]):
        assert main(words) != 0
        assert os.listdir(tmp_path / "mine") == ["kept.txt"]


def test_names_stay_apart_on_file_systems_that_fold_case() -> None:
    names = NodeNames()
    given = [names.of(node) for node in ("Node", "node", "NODE", "nºde", "node~x", "ﬁ", "fi")]
    assert len({name.casefold() for name in given}) == len(given)
