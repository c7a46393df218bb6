"""Every document the tests know with a script that plays it: conformance, examples, seeds, docs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec import Struct

from anew.lab.script import Script, read_script, script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages import load_text
from anew.program.program import Program
from tests.languages.documents import EVERYTHING, SEEDS
from tests.test_conformance import CASES, source, suffix
from tests.test_examples import ROOT, SCRIPTS, document_of

DOCS = ROOT / "docs/examples"
SCRIPT_SUFFIX = ".script.yaml"


class Played(Struct, frozen=True):
    """`text` under the name `file`, and one way to play it."""

    name: str
    file: str
    text: bytes
    script: Script

    @property
    def program(self) -> Program | None:
        return _program(self.text, self.file)

    @property
    def simulation(self) -> Simulation:
        """The program played once; several tests look at the same log and must not change it."""
        if self.name not in _SIMULATIONS:
            assert self.program is not None
            _SIMULATIONS[self.name] = simulate(self.program, self.script)
        return _SIMULATIONS[self.name]


_SIMULATIONS: dict[str, Simulation] = {}


@cache
def _program(text: bytes, file: str) -> Program | None:
    return load_text(text, file).program


@cache
def corpus() -> tuple[Played, ...]:
    """All of them that load without errors, in a fixed order, each with a name of its own."""
    found = [*_conformance(), *_examples(), *_seeds(), *_docs()]
    assert len({played.name for played in found}) == len(found)
    return tuple(played for played in found if played.program is not None)


def corpus_parts() -> dict[str, list[Played]]:
    """The corpus by kind, the first word or two of a name: what fails is still easy to find."""
    parts: dict[str, list[Played]] = {}
    for played in corpus():
        words = played.name.replace("/", "-").split("-")
        parts.setdefault("-".join(words[: min(2, len(words) - 1)]), []).append(played)
    return parts


def _conformance() -> list[Played]:
    return [
        Played(case["id"], f"f{suffix(case)}", source(case).encode(), script_of(case["script"]))
        for case in CASES
    ]


def _examples() -> list[Played]:
    pairs = [(script, ROOT / document_of(script)) for script in SCRIPTS]
    return [
        Played(str(script), str(document), document.read_bytes(), _script(ROOT / script))
        for script, document in pairs
        if document.exists()
    ]


def _seeds() -> list[Played]:
    texts = [*SEEDS, EVERYTHING]
    return [
        Played(f"seed-{number}", "seed.yaml", text.encode(), script_of({}))
        for number, text in enumerate(texts)
    ]


def _docs() -> list[Played]:
    found = []
    for path in sorted(DOCS.iterdir()):
        is_document = path.suffix in (".yaml", ".dot") and ".s" not in path.stem
        scripts = sorted(DOCS.glob(f"{path.stem}.*script.yaml")) if is_document else []
        for script in scripts:
            # One script may play a playbook and a graph of the same name.
            name = f"{path.relative_to(ROOT)}+{script.name}"
            found.append(Played(name, str(path), path.read_bytes(), _script(script)))
        if is_document and not scripts:
            name = str(path.relative_to(ROOT))
            found.append(Played(name, str(path), path.read_bytes(), script_of({})))
    return found


def _script(path: Path) -> Script:
    return read_script(path.read_bytes(), path.name)
