"""Scenarios in code: load a document, play it on outcomes, and ask what happened.

>>> flow = lab.load("flow.yaml")
>>> played = lab.play(flow, outcomes={"fetch": [lab.error("server_error", times=2), lab.ok()]})
>>> played.expect(status="done", attempts={"fetch": 3})

Everything is done by the parts that `anew simulate` and `anew test` have.
"""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from anew.engine.events import Event
from anew.errors import ConfigError, ProgramError
from anew.lab.expectations import Observed, UnmetExpectation, checked, difference, unmet
from anew.lab.plain_values import fitting, plain
from anew.lab.scenario import play as play_read
from anew.lab.scenario import read_scenario, timeline_text
from anew.lab.scenario_files import document_of, golden_beside
from anew.lab.script import CHANCE_DEFAULT, Script, script_of
from anew.lab.script_warnings import script_warnings
from anew.lab.simulate import EVENTS_MAX, Simulation, simulate
from anew.languages import Loaded, read_file
from anew.languages import load as load_document
from anew.languages import load_text as load_document_text
from anew.program.findings import errors_in
from anew.program.program import Program
from anew.values import Object, Value
from anew.views.exit_status import exit_status_of

if TYPE_CHECKING:
    from anew.languages.dot.extensions import Extensions
    from anew.tools.modules import Tools

PathLike: TypeAlias = str | os.PathLike[str]
Outcomes: TypeAlias = Mapping[str, Object | Sequence[Object]]
# A failed assertion is read in a terminal; the whole timeline is in `played.timeline`.
_SHOWN_LINES_MAX = 200


class Played(Struct, frozen=True, dict=True):
    """A run that was played to its end, and what became of it.

    `failures` are the expectations of its scenario that were not met. `name` is who is named when
    an expectation fails.
    """

    simulation: Simulation
    name: str
    failures: tuple[UnmetExpectation, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.name}: {self.status} after {self.elapsed:g} virtual seconds>"

    def report(self) -> Object:
        """The JSON object of `anew simulate --json`."""
        return deepcopy(self._report)

    @cached_property
    def _report(self) -> Object:
        return self.simulation.report()

    @property
    def program(self) -> Program:
        return self.simulation.program

    @property
    def status(self) -> str:
        """`done`, `failed`, `cancelled` or `waiting`."""
        return self.simulation.status.value

    @property
    def visits(self) -> list[str]:
        """The steps, in the order they started."""
        return list(self._report["visits"])

    @property
    def attempts(self) -> dict[str, int]:
        """How often each task was executed, by its label."""
        return dict(self._report["attempts"])

    @property
    def delays(self) -> list[float]:
        """The seconds before every retry, zeros included, in order."""
        return [delay["seconds"] for delay in self._report["delays"]]

    @property
    def elapsed(self) -> float:
        """Virtual seconds from the first event to the last."""
        return float(self._report["elapsed"])

    @property
    def ctx(self) -> Object:
        """What the run wrote."""
        found: Object = deepcopy(self._report["ctx"])
        return found

    @property
    def result(self) -> Value:
        return deepcopy(self._report["result"])

    @property
    def error(self) -> Object | None:
        """The error the run failed with; None when it did not."""
        error: Object | None = deepcopy(self._report["error"])
        return error

    @property
    def handled(self) -> list[str]:
        """The steps whose failure was handled, in order."""
        return list(self._report["handled"])

    @property
    def unsatisfied(self) -> list[str]:
        """The goal gates that were not satisfied."""
        return list(self._report["unsatisfied"])

    @property
    def log(self) -> list[Event]:
        """Every event, in order."""
        return self.simulation.log

    @property
    def runs(self) -> list[list[Event]]:
        """The log of each run: more than one where another run took the place of the first."""
        return self.simulation.runs

    @cached_property
    def timeline(self) -> str:
        """What `anew simulate` prints."""
        return timeline_text(self.simulation)

    def expect(self, **expected: Value) -> Played:
        """Raise AssertionError unless all this came out, and all that its scenario expects.

        The words are those of a scenario's `expect`; ConfigError names one that is unknown.
        """
        __tracebackhide__ = True  # pytest then shows the line of the test
        seen = Observed(self._report, exit_status_of(self.simulation.status), self.timeline)
        said = checked(fitting(plain(expected, "expect"), "expect"), "expect")
        failures = [*self.failures, *unmet(said, seen)]
        if failures:
            raise AssertionError("\n".join(self._failure_lines(failures)))
        return self

    def _failure_lines(self, failures: Sequence[UnmetExpectation]) -> Iterator[str]:
        yield f"{self.name}: {_counted(len(failures), 'expectation')} not met"
        for failure in failures:
            yield f"  {failure.message}"
            yield from _bounded(difference(failure))
        if all(failure.what != "timeline" for failure in failures):
            yield "  what happened:"
            yield from _bounded(self.timeline.splitlines())


def load(
    path: PathLike,
    *,
    dialect: str | None = None,
    extensions: Extensions | None = None,
    tools: Tools | None = None,
) -> Program:
    """The program in a file, playbook or graph; ProgramError has the findings when it has errors.

    The other arguments are as in `anew.open_engine`. No tool is called, but what a task gives it
    is checked.
    """
    return _program(load_document(path, dialect=dialect, extensions=_with_tools(extensions, tools)))


def load_text(
    text: str,
    file: str,
    *,
    dialect: str | None = None,
    extensions: Extensions | None = None,
    tools: Tools | None = None,
) -> Program:
    """As `load`, for a text; the ending of `file` tells the language."""
    known = _with_tools(extensions, tools)
    return _program(load_document_text(text, file, dialect=dialect, extensions=known))


def _with_tools(extensions: Extensions | None, tools: Tools | None) -> Extensions | None:
    if tools is None:
        return extensions
    # Few tests have tools of their own.
    from anew.languages.dot.extensions import Extensions  # noqa: PLC0415
    from anew.tools.modules import rows_of  # noqa: PLC0415

    return (extensions or Extensions()).with_kinds(rows_of(tools))


def play(
    flow: Program,
    workload: Mapping[str, Value] | None = None,
    *,
    outcomes: Outcomes | None = None,
    signals: Sequence[Object] = (),
    random: float | Mapping[str, int | Sequence[float]] = CHANCE_DEFAULT,
    now: str | None = None,
    lags: Mapping[str, Sequence[float]] | None = None,
    events_max: int = EVENTS_MAX,
) -> Played:
    """Play a program to its end in virtual time, with the real engine. No tool is called.

    The arguments are the keys of a script. A task without outcomes succeeds with {}. ConfigError
    says which of them is wrong; what is only doubtful is a warning.
    """
    expect_program(flow, "lab.play")
    script = written(
        "lab.play",
        workload=workload,
        outcomes=outcomes,
        signals=signals,
        random=random,
        now=now,
        lags=lags,
    )
    simulation = simulate(flow, script, events_max=events_max)
    warn((*script_warnings(script, flow), *simulation.doubts))
    return Played(simulation, flow.name)


def written(where: str, *, outcomes: Outcomes | None, **said: Value) -> Script:
    """The script that the arguments of a call say; `where` is who is named when one is wrong."""
    return script_of(plain({"outcomes": outcomes, **said}, where), where)


def expect_program(flow: object, where: str) -> None:
    """ConfigError for what is no program, which is most often the path to one."""
    if not isinstance(flow, Program):
        hint = "lab.load(path) gives one"
        raise ConfigError(f"{where}: a program comes first, not {reprlib.repr(flow)}; {hint}")


def play_scenario(path: PathLike) -> Played:
    """Play a scenario file on its document; `expect()` then asserts what the file expects."""
    file = os.fspath(path)
    scenario = read_scenario(read_file(file), file)
    try:
        document = document_of(file, scenario.document)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    program = load(document, dialect=scenario.dialect)
    played = play_read(scenario, program, timeline=golden_beside(file))
    warn(played.doubts)
    return Played(played.simulation, file, tuple(played.failures))


def _program(loaded: Loaded) -> Program:
    if loaded.program is None:
        raise ProgramError(errors_in(loaded.findings))
    return loaded.program


def warn(problems: Iterable[str]) -> None:
    """Tell the author of a call what is doubtful about it."""
    for problem in problems:
        # Two calls up is the line of the author.
        warnings.warn(problem, stacklevel=3)


def _counted(count: int, what: str) -> str:
    return f"1 {what} is" if count == 1 else f"{count} {what}s are"


def _bounded(lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:_SHOWN_LINES_MAX]:
        yield f"    {line}".rstrip()
    if len(lines) > _SHOWN_LINES_MAX:
        yield f"    … {len(lines) - _SHOWN_LINES_MAX} more lines"
