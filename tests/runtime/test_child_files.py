"""The file of a child run: what is no document of the graph's folder is refused, and in time."""

import os
import subprocess
import sys

PARENT = (
    'digraph g {{ start [shape=Mdiamond]; exit [shape=Msquare]; c [shape=house, dotfile="{}"]; '
    "start -> c -> exit }}"
)
# A run that reads its child's file ends within a second; one that hangs does not end at all.
PATIENCE_SECONDS = 20


def _ended(folder, child):
    (folder / "parent.dot").write_text(PARENT.format(child))
    command = [sys.executable, "-m", "anew", "run", "parent.dot", "--db", "runs.db", "--quiet"]
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_a_pipe_in_the_place_of_a_child_does_not_hang_the_engine(tmp_path):
    os.mkfifo(tmp_path / "child.dot")
    ended = _ended(tmp_path, "child.dot")
    assert "reference" in ended.stdout + ended.stderr


def test_a_child_that_is_no_text_is_told_as_one_that_cannot_be_read(tmp_path):
    (tmp_path / "child.dot").write_bytes(b"\xff\xfe digraph")
    ended = _ended(tmp_path, "child.dot")
    assert "Failed in step c: reference:" in ended.stdout + ended.stderr
    assert "UnicodeDecodeError" not in ended.stdout + ended.stderr


def test_a_file_that_is_no_document_is_not_quoted_in_the_error(tmp_path):
    folder = tmp_path / "graphs"
    folder.mkdir()
    (tmp_path / "private").write_text("the words of somebody else\n" * 3)
    ended = _ended(folder, "../private")
    assert ended.returncode == 1
    assert "somebody else" not in ended.stdout + ended.stderr
    assert "outside the folder of the document" in ended.stdout + ended.stderr


def test_a_child_with_a_mistake_is_told_by_its_place_and_not_by_its_words(tmp_path):
    (tmp_path / "child.dot").write_text("digraph g {\n the words of somebody else\n}\n")
    ended = _ended(tmp_path, "child.dot")
    told = " ".join((ended.stdout + ended.stderr).split())
    assert "somebody" not in told
    assert "has 2 errors, the first in line 1 (start_node)" in told


def test_a_child_that_is_too_large_is_not_read_whole(tmp_path):
    with (tmp_path / "child.dot").open("wb") as file:
        file.truncate(300 << 20)
    ended = _ended(tmp_path, "child.dot")
    assert "it is larger than 1,048,576 bytes" in " ".join((ended.stdout + ended.stderr).split())
