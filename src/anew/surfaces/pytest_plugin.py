"""Scenarios as tests of pytest: each `*.scenario.yaml` that it comes by is one item.

Loaded into every session of an environment that has Anew, so it imports nothing of Anew before
there is a scenario to play.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from anew.surfaces.cli.testing import ScenarioResult, ScenarioRunner

# As `anew.lab.scenario` has them, which is too much to import for three words.
SUFFIXES = (".scenario.yaml", ".scenario.yml", ".scenario.json")
_PLAYER: pytest.StashKey[ScenarioRunner] = pytest.StashKey()


class NotMet(Exception):
    """A scenario whose expectations were not met, or that could not be played."""

    def __init__(self, result: ScenarioResult) -> None:
        super().__init__(result)
        self.result = result


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("anew_tools", "Python modules with tools that documents name", type="args")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    if not file_path.name.endswith(SUFFIXES):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


class ScenarioFile(pytest.File):
    """A file of one scenario."""

    def collect(self) -> Iterator[ScenarioItem]:
        yield ScenarioItem.from_parent(self, name="scenario")


class ScenarioItem(pytest.Item):
    def runtest(self) -> None:
        result = _player_of(self.config).result(self._shown)
        for doubt in result.doubts:
            self.add_report_section("call", "warnings of the script", _visible(doubt))
        if result.verdict != "passed":
            raise NotMet(result)

    @property
    def _shown(self) -> str:
        """Its path from here, if it lies below: as a person would name it."""
        here = self.config.invocation_params.dir
        is_below = self.path.is_relative_to(here)
        return str(self.path.relative_to(here) if is_below else self.path)

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: object = None,  # noqa: ARG002 - there is but one
    ) -> str:
        """What `anew test` says of it."""
        if not isinstance(excinfo.value, NotMet):
            return str(super().repr_failure(excinfo))
        from anew.surfaces.cli.test_report import failure_lines

        result = excinfo.value.result
        is_whole = self.config.get_verbosity() > 0
        lines = failure_lines(result, _plain, is_whole=is_whole)
        return _visible(result.problem) or dedent("\n".join(lines))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"scenario {self.path.name}"


def _player_of(config: pytest.Config) -> ScenarioRunner:
    """The same for the whole session: each document is compiled once."""
    if _PLAYER not in config.stash:
        from anew.surfaces.cli.testing import Documents, ScenarioRunner, TestOptions
        from anew.tools.modules import load_tools

        for named in config.getini("anew_tools"):
            load_tools(named)
        config.stash[_PLAYER] = ScenarioRunner(TestOptions(), Documents())
    return config.stash[_PLAYER]


def _visible(text: str) -> str:
    """A scenario may say what would change the terminal."""
    from anew.views.visible import visible

    return visible(text)


def _plain(_: str, text: str) -> str:
    return text
