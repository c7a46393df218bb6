"""Write what Anew is made of as a bill of materials: CycloneDX 1.6, in JSON.

The same packages give the same file to the byte; the moment is left out unless SOURCE_DATE_EPOCH
says one.
"""

from __future__ import annotations

import os
from base64 import b64decode
from datetime import UTC, datetime
from typing import Any, TypeAlias
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import msgspec

from anew import __version__
from supply.packages import (
    OURSELVES,
    Package,
    needed_by_anew,
    needed_by_page,
    page_packages,
    python_packages,
)
from supply.pins import ROOT, hashed

SBOM_FILE = ROOT / "build" / "sbom.json"
Json: TypeAlias = dict[str, Any]


def write_sbom() -> str:
    """Write it into build/; the text says what was done."""
    bom = sbom()
    SBOM_FILE.parent.mkdir(exist_ok=True)
    SBOM_FILE.write_bytes(msgspec.json.format(msgspec.json.encode(bom), indent=2) + b"\n")
    return f"{SBOM_FILE.relative_to(ROOT)}: {len(bom['components'])} components"


def sbom() -> Json:
    """The bill of materials of this version with the packages that are installed."""
    packages = [*python_packages(), *page_packages()]
    hashes = hashed()
    own = {
        "type": "application",
        "bom-ref": _own_ref(),
        "name": OURSELVES,
        "version": __version__,
        "purl": _own_ref(),
        "licenses": _licences("Apache-2.0"),
    }
    body: Json = {
        "components": [_component(package, hashes) for package in packages],
        "dependencies": _dependencies(packages),
    }
    serial = uuid5(NAMESPACE_URL, msgspec.json.encode([own, body]).decode())
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {**_moment(), "component": own},
        **body,
    }


def _own_ref() -> str:
    return f"pkg:pypi/{OURSELVES}@{__version__}"


def _moment() -> Json:
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if not said:
        return {}
    return {"timestamp": datetime.fromtimestamp(int(said), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


def purl_of(package: Package) -> str:
    """The package URL: one name for a package, whoever lists it."""
    return f"pkg:{package.ecosystem}/{quote(package.name)}@{quote(package.version)}"


def _component(package: Package, hashes: dict[tuple[str, str], list[str]]) -> Json:
    return {
        "type": "library",
        "bom-ref": purl_of(package),
        "name": package.name,
        "version": package.version,
        "scope": "optional" if package.is_optional else "required",
        "licenses": _licences(package.licence),
        "hashes": _hashes(package, hashes),
        "purl": purl_of(package),
    }


def _hashes(package: Package, hashes: dict[tuple[str, str], list[str]]) -> list[Json]:
    if package.integrity:
        algorithm, _, digest = package.integrity.partition("-")
        name = f"SHA-{algorithm.removeprefix('sha')}"
        return [{"alg": name, "content": b64decode(digest).hex()}]
    found = hashes.get((package.name, package.version), [])
    return [{"alg": "SHA-256", "content": each} for each in found]


def _licences(said: str) -> list[Json]:
    return [{"expression": said}] if " " in said else [{"license": {"id": said}}]


def _dependencies(packages: list[Package]) -> list[Json]:
    refs = {(package.ecosystem, package.name): purl_of(package) for package in packages}
    own = [refs["pypi", name] for name in needed_by_anew()]
    own += [refs["npm", name] for name in needed_by_page()]
    rows = [{"ref": _own_ref(), "dependsOn": sorted(own)}]
    for package in packages:
        needs = [refs[package.ecosystem, name] for name in package.needs]
        rows.append({"ref": purl_of(package), "dependsOn": needs})
    return rows
