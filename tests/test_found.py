"""For every module of `src` a reader finds the tests: by its name, or by a row of CONTRIBUTING.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES, TESTS = ROOT / "src/anew", ROOT / "tests"
HEADING = "### Where the tests of a module are\n"
ROW = re.compile(r"^\| ((?:`[^`|]+`(?:, )?)+) \| (.+) \|$", re.M)
WORD = re.compile(r"`([^`]+)`")


@cache
def rows() -> dict[str, list[str]]:
    """By folder or module of `src/anew`: the tests that CONTRIBUTING.md names for it."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, found, rest = page.partition(HEADING)
    assert found, "CONTRIBUTING.md does not say where the tests are"
    section = rest.partition("\n#")[0]
    return {
        source: WORD.findall(tests)
        for sources, tests in ROW.findall(section)
        for source in WORD.findall(sources)
    }


def modules() -> list[PurePosixPath]:
    """Without their suffix; `__init__` and `__main__` hold nothing of their own."""
    found = (PurePosixPath(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.py"))
    return sorted(path.with_suffix("") for path in found if not path.name.startswith("__"))


def has_tests_of_its_name(module: PurePosixPath) -> bool:
    """`stores/sqlite/writer` has tests/stores/sqlite/test_writer*.py or tests/stores/test_sqlite*.py."""
    names = (module, *list(module.parents)[:-1])
    return any(any((TESTS / name.parent).glob(f"test_{name.name}*.py")) for name in names)


def has_a_row(module: PurePosixPath) -> bool:
    return any(str(place) in rows() for place in (module, *module.parents))


def test_the_tests_of_every_module_are_found() -> None:
    lost = [f"{x}.py" for x in modules() if not (has_tests_of_its_name(x) or has_a_row(x))]
    assert lost == [], "name tests after these, or add a row to CONTRIBUTING.md"


def test_modules_are_seen_and_can_be_lost() -> None:
    assert PurePosixPath("engine/fold") in modules()
    assert has_tests_of_its_name(PurePosixPath("stores/sqlite/anything"))
    nobody = PurePosixPath("nobody/anything")
    assert not has_tests_of_its_name(nobody)
    assert not has_a_row(nobody)


@pytest.mark.parametrize(("source", "tests"), rows().items(), ids=rows())
def test_a_row_is_true(source: str, tests: list[str]) -> None:
    assert (SOURCES / source).is_dir() or (SOURCES / f"{source}.py").exists()
    name = f"anew.{source.replace('/', '.')}"
    package, _, last = name.rpartition(".")
    used = re.compile(rf"{re.escape(name)}\b|from {re.escape(package)} import .*\b{last}\b")
    assert tests
    for place in tests:
        path = ROOT / place
        assert path.exists(), f"there is no {place}"
        files = path.rglob("*.py") if path.is_dir() else [path]
        # Some speak to a server or a command, and carry the name of what they test.
        is_used = any(used.search(file.read_text(encoding="utf-8")) for file in files)
        assert is_used or last in path.name, f"nothing in {place} uses {name}"
