"""Play scenario files, in this process or in several.

Each document is compiled once per process. Nothing here prints; the golden timelines that someone
asked to rewrite are all it writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from time import perf_counter

from msgspec import Struct, field

from anew.errors import ConfigError, ProgramError
from anew.lab.coverage import Coverage, CoverageTally
from anew.lab.expectations import UnmetExpectation
from anew.lab.scenario import PlayedScenario, Scenario, play, read_scenario
from anew.lab.scenario_files import document_of, golden_beside, timeline_beside
from anew.languages import Loaded, load_text
from anew.program.findings import errors_in
from anew.program.program import Program
from anew.surfaces.cli.documents import read_document, write_document
from anew.surfaces.cli.processes import mapped

# To start a process takes half a second of work: it must have more than that to do.
PROCESS_SECONDS = 1.0
# So many at a time go to a process: few enough that all of them end at about the same time.
_BATCH = 50


class ScenarioVerdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    BAD = "bad"  # it could not be played


class ScenarioResult(Struct, frozen=True):
    """What became of one scenario. `problem` says why it could not be played.

    The timeline is that of a scenario that failed. `is_written`: its golden timeline was.
    """

    file: str
    verdict: ScenarioVerdict
    seconds: float = 0.0
    document: str | None = None
    problem: str = ""
    failures: list[UnmetExpectation] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    timeline: str = ""
    expects: bool = True
    is_written: bool = False


class TestOptions(Struct, frozen=True):
    """What is wanted of scenarios besides playing them."""

    coverage: bool = False
    update: bool = False
    stops_early: bool = False


class ScenarioResults(Struct, frozen=True):
    """Some scenarios that were played: results in order, and coverage by document."""

    results: list[ScenarioResult]
    coverage: dict[str, Coverage]
    used: set[str]

    @property
    def has_failed(self) -> bool:
        return any(result.verdict is not ScenarioVerdict.PASSED for result in self.results)


class Documents:
    """The programs of this process by file and dialect, each compiled once.

    `used` has every file they were made of.
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self._loaded: dict[tuple[str, str | None], Loaded] = {}

    def program(self, file: str, dialect: str | None = None) -> Program:
        """ConfigError when there is no such file, or when it has errors."""
        loaded = self._loaded.get((file, dialect))
        if loaded is None:
            self.used.add(file)
            loaded = load_text(read_document(file), file, dialect=dialect)
            self._loaded[file, dialect] = loaded
            folder = os.path.dirname(file)
            self.used.update(os.path.join(folder, name) for name in loaded.files)
        if loaded.program is None:
            raise ConfigError(_refused(file, loaded))
        return loaded.program


def _refused(file: str, loaded: Loaded) -> str:
    errors = errors_in(loaded.findings)
    first = f"{errors[0].place}: {errors[0].message}" if errors else "it has no program"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"its document has errors: {first}{more}. See `anew check {file}`"


class ScenarioRunner:
    """Plays scenarios one after the other, and adds up what they cover."""

    def __init__(self, options: TestOptions, documents: Documents) -> None:
        self._options = options
        self._documents = documents
        self._tallies: dict[tuple[str, str | None], CoverageTally] = {}

    def batch(self, files: Sequence[str]) -> ScenarioResults:
        results: list[ScenarioResult] = []
        for file in files:
            results.append(self.result(file))
            if self._options.stops_early and results[-1].verdict is not ScenarioVerdict.PASSED:
                break
        return ScenarioResults(results, self._taken_coverage(), self._documents.used)

    def result(self, file: str) -> ScenarioResult:
        """Play one scenario file; whatever is wrong with it is its own affair."""
        began = perf_counter()
        document: str | None = None
        try:
            scenario = read_scenario(read_document(file), file)
            document = document_of(file, scenario.document)
            program = self._documents.program(document, scenario.dialect)
            golden = golden_beside(file)
            played = play(scenario, program, timeline=None if self._options.update else golden)
            is_written = self._options.update and _keep(played, golden)
        except (ConfigError, ProgramError) as error:
            problem = str(error).removeprefix(f"{file}: ")
            return ScenarioResult(
                file, ScenarioVerdict.BAD, perf_counter() - began, document, problem
            )
        if self._options.coverage:
            self._count(document, program, played)
        return ScenarioResult(
            file=file,
            verdict=ScenarioVerdict.PASSED if played.is_passed else ScenarioVerdict.FAILED,
            seconds=perf_counter() - began,
            document=document,
            failures=played.failures,
            doubts=played.doubts,
            timeline="" if played.is_passed else played.timeline,
            expects=_expects(scenario) or golden is not None,
            is_written=is_written,
        )

    def _count(self, document: str, program: Program, played: PlayedScenario) -> None:
        key = document, played.scenario.dialect
        if key not in self._tallies:
            self._tallies[key] = CoverageTally(program)
        self._tallies[key].add(played.simulation.log)

    def _taken_coverage(self) -> dict[str, Coverage]:
        """What the scenarios since the last time have covered."""
        found: dict[str, Coverage] = {}
        for (document, _), tally in self._tallies.items():
            found[document] = found.get(document, Coverage()).plus(tally.coverage)
        self._tallies.clear()
        return found


def _expects(scenario: Scenario) -> bool:
    return bool(scenario.expect or scenario.script.invariants)


def _keep(played: PlayedScenario, golden: str | None) -> bool:
    """Write the timeline of a scenario that has one, or that expects nothing else."""
    if golden == played.timeline or (golden is None and _expects(played.scenario)):
        return False
    write_document(timeline_beside(played.scenario.file), played.timeline)
    return True


# --- several processes ---------------------------------------------------------------------------


def batches(
    files: Sequence[str], options: TestOptions, *, processes: int
) -> Iterator[ScenarioResults]:
    """Play the scenarios, in their order. How long the first ones take says what the others need:
    there are other processes only as far as they pay.
    """
    cut = [list(files[start : start + _BATCH]) for start in range(0, len(files), _BATCH)]
    player, began = ScenarioRunner(options, Documents()), perf_counter()
    first = player.batch(cut[0])
    yield first
    left = (perf_counter() - began) / len(cut[0]) * (len(files) - len(cut[0]))
    wanted = min(processes, int(left / PROCESS_SECONDS))
    if options.stops_early and first.has_failed:
        return
    others = map(player.batch, cut[1:]) if wanted < 2 else _elsewhere(cut[1:], options, wanted)
    for batch in others:
        yield batch
        if options.stops_early and batch.has_failed:
            return


def _elsewhere(
    cut: list[list[str]], options: TestOptions, processes: int
) -> Iterator[ScenarioResults]:
    return mapped(_prepared, options, batches=cut, processes=processes)


def _prepared(options: TestOptions) -> Callable[[list[str]], ScenarioResults]:
    """In another process: what plays a batch."""
    return ScenarioRunner(options, Documents()).batch
