"""What `anew` itself answers, whatever the command."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from anew import __version__
from anew.errors import ConfigError, EngineBug
from anew.surfaces.cli import main as cli
from anew.surfaces.cli.command_table import COMMANDS, GROUPS
from anew.surfaces.cli.main import main

HEAD = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: flow, path: flow}\n"


@pytest.fixture
def command_that(monkeypatch: pytest.MonkeyPatch):
    """Replace every command by a function of its words."""

    def replace(run) -> None:
        monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(run=run))

    monkeypatch.delenv("ANEW_DEBUG", raising=False)
    return replace


def raising(error: BaseException):
    def run(words: list[str]) -> int:
        raise error

    return run


def test_help_shows_at_most_a_dozen_commands_and_how_to_see_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    shown = [command for command in COMMANDS if f"  {command.word} " in out]
    assert shown == [command for command in COMMANDS if command.is_first]
    assert len(shown) <= 12
    assert "`anew help --all`" in out


@pytest.mark.parametrize("words", [["help", "--all"], ["--help", "--all"], ["help", "all"]])
def test_the_whole_help_names_every_command_once(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert out.count(f"\n  {command.word:<10} {command.summary}\n") == 1
    for group in GROUPS:
        assert f"\n{group.title}:\n" in out


def test_help_for_a_command_is_that_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "runs"]) == 0
    assert capsys.readouterr().out.startswith("usage: anew runs")
    assert main(["help", "rnus"]) == 2
    assert "Did you mean 'runs'?" in capsys.readouterr().err


def test_no_command_shows_the_help_as_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: anew")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"anew {__version__}\n"


def test_a_misspelt_command_is_answered_with_the_near_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["chekc", "x.yaml"]) == 2
    assert capsys.readouterr().err == "anew: there is no command 'chekc'. Did you mean 'check'?\n"


def test_an_unknown_option_is_called_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--frobnicate"]) == 2
    assert "there is no option '--frobnicate'" in capsys.readouterr().err


@pytest.mark.parametrize("word", [command.word for command in COMMANDS])
def test_every_command_has_a_help_with_an_example(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: anew {word}")
    assert f"example:\n  anew {word}" in out


@pytest.mark.parametrize("word", [command.word for command in COMMANDS])
def test_bad_usage_of_a_command_is_status_2(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word, "--no-such-option"]) == 2
    assert capsys.readouterr().err.startswith(f"usage: anew {word}")


def test_an_error_made_for_people_is_one_line(
    command_that, capsys: pytest.CaptureFixture[str]
) -> None:
    command_that(raising(ConfigError("cannot read x: there is no such file")))
    assert main(["check", "x"]) == 2
    assert capsys.readouterr().err == "anew: cannot read x: there is no such file\n"


@pytest.mark.parametrize("error", [ZeroDivisionError("a\nb"), EngineBug("no such transition")])
def test_a_bug_is_one_line_that_asks_for_a_report(
    error: Exception, command_that, capsys: pytest.CaptureFixture[str]
) -> None:
    command_that(raising(error))
    assert main(["check", "x"]) == 1
    err = capsys.readouterr().err
    assert "please report" in err
    assert type(error).__name__ in err
    assert err.count("\n") == 1


def test_the_debug_setting_shows_where_a_bug_is(
    command_that, monkeypatch: pytest.MonkeyPatch
) -> None:
    command_that(raising(ZeroDivisionError()))
    monkeypatch.setenv("ANEW_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["check", "x"])


def test_a_full_disk_is_nobodys_bug(command_that, capsys: pytest.CaptureFixture[str]) -> None:
    command_that(raising(OSError(28, "No space left on device")))
    assert main(["check", "x"]) == 1
    assert capsys.readouterr().err == "anew: no space left on device\n"


def test_a_closed_standard_output_is_no_error(
    command_that, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    command_that(lambda _: sys.stdout.write("unheard\n") * 0)
    assert main(["check", "x"]) == 0
    sys.stdout.close()


def test_an_interrupt_is_a_cancellation(command_that, capsys: pytest.CaptureFixture[str]) -> None:
    command_that(raising(KeyboardInterrupt()))
    assert main(["check", "x"]) == 130
    assert capsys.readouterr().err == "anew: cancelled\n"


def test_a_reader_that_left_is_no_error(command_that, capsys: pytest.CaptureFixture[str]) -> None:
    command_that(raising(BrokenPipeError()))
    assert main(["check", "x"]) == 141
    assert capsys.readouterr().err == ""


def test_a_terminal_without_a_character_does_not_stop_the_command(
    command_that, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    command_that(lambda _: sys.stdout.write("retry · 2.0 s\n") * 0)
    assert main(["check", "x"]) == 0
    assert stream.buffer.getvalue() == b"retry \\xb7 2.0 s\n"  # type: ignore[attr-defined]


def run_module(*words: str) -> subprocess.CompletedProcess[str]:
    source = Path(cli.__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(source)}
    return subprocess.run(
        [sys.executable, "-m", "anew", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_module_runs_as_a_program() -> None:
    result = run_module("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"anew {__version__}\n", "")


def test_the_exit_status_reaches_the_shell() -> None:
    result = run_module("check", "no-such-file.yaml")
    assert result.returncode == 2
    assert result.stderr == "anew: cannot read no-such-file.yaml: there is no such file\n"


def run_code(code: str, *words: str, cwd: Path | None = None) -> str:
    """What a process of its own prints that is given these words."""
    source = Path(cli.__file__).parents[3]
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\nfrom anew.surfaces.cli.main import main\n{code}",
            *words,
        ],
        env=os.environ | {"PYTHONPATH": str(source)},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return told.stdout.splitlines()[-1]


def modules_after(*words: str, cwd: Path | None = None) -> set[str]:
    """What a process has imported that ran this command and nothing else."""
    return set(run_code("assert main() == 0; print(*sys.modules)", *words, cwd=cwd).split())


def test_help_imports_neither_yaml_nor_the_engine() -> None:
    loaded = modules_after("--help")
    assert "anew.surfaces.cli.main" in loaded
    unwanted = {"yaml", "msgspec", "anew.engine", "anew.languages", "argparse", "difflib", "typing"}
    assert not loaded & unwanted


@pytest.mark.parametrize(
    "words",
    [["runs"], ["questions"], ["failures"], ["programs"], ["workers"], ["runs", "--json"]],
    ids=" ".join,
)
def test_a_list_imports_no_language_no_tool_and_no_engine(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    code = "main(['run', 'hello.yaml', '--quiet'])"
    (tmp_path / "hello.yaml").write_text(HEAD + "workflow: [{step: a, tool: {kind: noop}}]")
    run_code(code + "; print()", cwd=tmp_path)
    loaded = modules_after(*words, cwd=tmp_path)
    assert "anew.stores.sqlite" in loaded
    unwanted = {
        *("yaml", "anew.languages", "anew.tools", "anew.credentials", "anew.lab"),
        *("anew.runtime.engine", "anew.runtime.ledger", "rich", "uvloop"),
        *("secrets", "shutil"),
    }
    assert not loaded & unwanted


def test_a_quiet_run_of_plain_texts_imports_no_more_than_it_uses(tmp_path: Path) -> None:
    steps = "workflow: [{step: start, tool: {kind: noop}}]"
    (tmp_path / "flow.yaml").write_text(f"{HEAD}{steps}", encoding="utf-8")
    loaded = modules_after("run", "flow.yaml", "--db", "runs.db", "--quiet", cwd=tmp_path)
    assert "anew.runtime.engine" in loaded
    packages = {"importlib.metadata", "tempfile", "rich", "difflib", "getpass"}
    assert not loaded & packages
    ours = {"anew.expressions.marked", "anew.views.lanes", "anew.surfaces.cli.live"}
    assert not loaded & ours


def test_the_collector_leaves_alone_what_a_process_imported_for_its_command() -> None:
    frozen = run_code("main(); import gc; print(gc.get_freeze_count())", "completion", "bash")
    assert int(frozen) > 1000


def test_a_command_inside_another_program_does_not_touch_its_objects() -> None:
    assert main(["completion", "bash"]) == 0  # what it imports may let go of frozen objects
    before = gc.get_freeze_count()
    assert main(["completion", "bash"]) == 0
    assert gc.get_freeze_count() == before
