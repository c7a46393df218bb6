"""What Anew is made of is pinned, hashed, licensed and listed."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, version
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from supply import sbom as sbom_module
from supply.notice import NOTICE_FILE, row_of
from supply.packages import Package, licence_file, licence_of, page_packages, python_packages
from supply.pins import HASHES_FILE, ROOT, hashed, pinned

PAGE_LOCK = ROOT / "web/package-lock.json"
LOCKED: dict[str, Any] = json.loads(PAGE_LOCK.read_text(encoding="utf-8"))["packages"]
PYTHON, PAGE = python_packages(), page_packages()
# Those that may be passed on with Anew, or installed beside it. A new one is a decision.
LICENCES = set(
    "MIT MIT-0 ISC BSD-2-Clause BSD-3-Clause Apache-2.0 PSF-2.0 LGPL-3.0-only any-OSI".split()
)

OSI = "Classifier: License :: OSI Approved ::"


def names(packages: list[Package]) -> list[str]:
    return [package.name for package in packages]


# --- hashes --------------------------------------------------------------------------------------


def test_every_pin_has_a_hash_and_every_hash_a_pin() -> None:
    assert set(hashed()) == set(pinned().items())
    assert all(hashed().values())


def test_pip_reads_every_line_of_the_hashes() -> None:
    lines = HASHES_FILE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    form = re.compile(r"[a-z0-9-]+==[\w.!+]+ \\|    --hash=sha256:[0-9a-f]{64}(?: \\)?")
    assert [row for row in rows if not form.fullmatch(row)] == []
    # A line that does not go on is followed by another package, or by nothing.
    assert all(
        nxt.startswith("    ") == row.endswith("\\")
        for row, nxt in zip(rows, [*rows[1:], "end"], strict=True)
    )


def test_what_is_installed_is_what_is_pinned() -> None:
    pins = pinned()
    assert {package.name: package.version for package in PYTHON} == {
        name: pins[name] for name in names(PYTHON)
    }


@pytest.mark.parametrize("place", [place for place in LOCKED if place])
def test_a_package_of_the_page_is_locked_by_its_content(place: str) -> None:
    assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", LOCKED[place]["integrity"])
    assert "resolved" not in LOCKED[place]


# --- licences ------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", [*PYTHON, *PAGE], ids=lambda package: package.name)
def test_a_package_stands_in_the_notice_with_its_licence(package: Package) -> None:
    assert row_of(package) in NOTICE_FILE.read_text(encoding="utf-8").splitlines(keepends=True)
    assert set(re.split(r" (?:OR|AND) ", package.licence)) <= LICENCES


@pytest.mark.parametrize("package", PAGE, ids=lambda package: package.name)
def test_the_licence_of_what_the_page_holds_is_passed_on(package: Package) -> None:
    path = licence_file(package)
    if path is None:
        pytest.skip("the packages of the page are not installed")
    assert path.read_text(encoding="utf-8").strip() in NOTICE_FILE.read_text(encoding="utf-8")


def test_the_notice_names_no_version_that_is_not_used() -> None:
    row = re.compile(r"^(\S+) (\S+) \([^)]+\)(?: \*)?$", re.M)
    listed = set(row.findall(NOTICE_FILE.read_text(encoding="utf-8")))
    page = {(package.name, package.version) for package in PAGE}
    assert listed - page <= set(pinned().items())


def described(folder: Path, *lines: str) -> Distribution:
    """An installed package whose metadata says this."""
    text = "\n".join(("Metadata-Version: 2.1", "Name: odd", "Version: 1", *lines, ""))
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return Distribution.at(folder)


@pytest.mark.parametrize(
    ("lines", "licence"),
    [
        (["License-Expression: MIT OR Apache-2.0"], "MIT OR Apache-2.0"),
        (["License: MIT License", f"{OSI} MIT License"], "MIT"),
        ([f"{OSI} MIT License", f"{OSI} Apache Software License"], "Apache-2.0 OR MIT"),
    ],
)
def test_a_licence_is_called_as_spdx_calls_it(
    tmp_path: Path, lines: list[str], licence: str
) -> None:
    assert licence_of(described(tmp_path, *lines)) == licence


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], "names no licence"),
        (["License: as you like"], "names no licence"),
        ([f"{OSI} Odd License"], "names the licence 'Odd License'"),
        ([f"{OSI} MIT License", f"{OSI} Odd License"], "names the licence 'Odd License'"),
    ],
)
def test_a_licence_that_is_not_known_is_told_in_words(
    tmp_path: Path, lines: list[str], found: str
) -> None:
    with pytest.raises(SystemExit, match=rf"the metadata of odd {found}, .* add it there\."):
        licence_of(described(tmp_path, *lines))


# --- the bill of materials -----------------------------------------------------------------------

_LICENCE = {
    "oneOf": [
        {
            "required": ["license"],
            "properties": {"license": {"oneOf": [{"required": ["id"]}, {"required": ["name"]}]}},
        },
        {"required": ["expression"], "properties": {"expression": {"type": "string"}}},
    ]
}
_HASH = {
    "type": "object",
    "required": ["alg", "content"],
    "additionalProperties": False,
    "properties": {
        "alg": {"enum": ["SHA-256", "SHA-384", "SHA-512"]},
        "content": {"pattern": "^([a-f0-9]{64}|[a-f0-9]{96}|[a-f0-9]{128})$"},
    },
}
_COMPONENT = {
    "type": "object",
    "required": ["type", "name", "version", "bom-ref", "purl", "licenses"],
    "properties": {
        "type": {"enum": ["application", "library"]},
        "scope": {"enum": ["required", "optional", "excluded"]},
        "purl": {"pattern": r"^pkg:(pypi|npm)/[A-Za-z0-9._%/-]+@[A-Za-z0-9._%+-]+$"},
        "licenses": {"type": "array", "minItems": 1, "items": _LICENCE},
        "hashes": {"type": "array", "minItems": 1, "items": _HASH},
    },
}
# What CycloneDX 1.6 requires of the parts we use, written from its specification.
CYCLONE = {
    "type": "object",
    "required": ["bomFormat", "specVersion", "serialNumber", "version", "metadata", "components"],
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.6"},
        "serialNumber": {
            "pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
        },
        "version": {"type": "integer", "minimum": 1},
        "metadata": {"required": ["component"], "properties": {"component": _COMPONENT}},
        "components": {"type": "array", "uniqueItems": True, "items": _COMPONENT},
        "dependencies": {
            "type": "array",
            "uniqueItems": True,
            "items": {"required": ["ref"], "properties": {"dependsOn": {"uniqueItems": True}}},
        },
    },
}


def test_the_bill_of_materials_has_the_form_of_cyclonedx() -> None:
    jsonschema_rs.validate(CYCLONE, sbom_module.sbom())


def test_the_bill_of_materials_lists_every_package_once_with_its_hashes() -> None:
    bom = sbom_module.sbom()
    refs = [row["bom-ref"] for row in bom["components"]]
    assert len(refs) == len(set(refs)) == len(PYTHON) + len(PAGE)
    assert bom["metadata"]["component"]["version"] == version("anew")
    assert all(row["hashes"] for row in bom["components"])
    known = {*refs, bom["metadata"]["component"]["bom-ref"]}
    mentioned = {each for row in bom["dependencies"] for each in (row["ref"], *row["dependsOn"])}
    assert mentioned == known
    assert "pkg:npm/%40xyflow/react@" in " ".join(refs)


def test_the_bill_of_materials_is_the_same_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setattr(sbom_module, "ROOT", tmp_path)
    monkeypatch.setattr(sbom_module, "SBOM_FILE", tmp_path / "build" / "sbom.json")
    written = []
    for _ in range(2):
        assert sbom_module.write_sbom().startswith("build/sbom.json: ")
        written.append((tmp_path / "build" / "sbom.json").read_bytes())
    assert written[0] == written[1]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")
    assert sbom_module.sbom()["metadata"]["timestamp"] == "2026-05-28T20:26:40Z"
