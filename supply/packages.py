"""The packages that a user of Anew gets: those of Python it needs, and those built into its page.

Asks the metadata of installed packages and the lock file of the page. Decides how a licence is
called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply.pins import ROOT

WEB = ROOT / "web"
OURSELVES = "anew"
# What our own work needs, and no user gets.
_DEVELOPMENT = "dev"

# What SPDX calls licences that metadata writes in words.
_SPDX = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
}
_CLASSIFIER = re.compile(r"License :: OSI Approved :: (.+)")
_EXPRESSION = re.compile(r"[A-Za-z0-9.+-]+(?: (?:OR|AND|WITH) [A-Za-z0-9.+-]+)*")
# Types for the compiler, of which nothing is left in the page.
_TYPES_ONLY = re.compile(r"@types/.*|csstype")


class Package(Struct, frozen=True):
    """`needs` are the names of packages it depends on, as far as they are listed themselves."""

    ecosystem: str
    name: str
    version: str
    licence: str
    is_optional: bool = False
    needs: tuple[str, ...] = ()
    integrity: str = ""


# --- Python --------------------------------------------------------------------------------------


def python_packages() -> list[Package]:
    """What `pip install anew` with every extra brings on this machine, without Anew itself."""
    always = _closure(frozenset())
    every = _closure(extras_for_users())
    return [
        Package(
            "pypi",
            name,
            found.version,
            licence_of(found),
            is_optional=name not in always,
            needs=tuple(sorted({each for each, _ in _needed(found, extras)} & every.keys())),
        )
        for name, (found, extras) in sorted(every.items())
        if name != OURSELVES
    ]


def needed_by_anew() -> list[str]:
    """The packages that Anew itself names."""
    return sorted({name for name, _ in _needed(distribution(OURSELVES), extras_for_users())})


def extras_for_users() -> frozenset[str]:
    """The extras that a user may ask for."""
    said = distribution(OURSELVES).metadata.get_all("Provides-Extra") or ()
    return frozenset(said) - {_DEVELOPMENT}


def _closure(extras: frozenset[str]) -> dict[str, tuple[Distribution, frozenset[str]]]:
    found: dict[str, tuple[Distribution, frozenset[str]]] = {}
    todo = [(OURSELVES, extras)]
    while todo:
        name, wanted = todo.pop()
        known = found[name][1] if name in found else None
        if known is not None and wanted <= known:
            continue
        wanted |= known or frozenset()
        found[name] = (distribution(name), wanted)
        todo += _needed(found[name][0], wanted)
    return found


def _needed(found: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for text in found.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": each}) for each in (*extras, "")):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def licence_of(found: Distribution) -> str:
    """The licence as SPDX writes it."""
    metadata = found.metadata
    for field in ("License-Expression", "License"):
        said = metadata[field] or ""
        if _EXPRESSION.fullmatch(said) and said not in _SPDX:
            return str(said)
    matches = map(_CLASSIFIER.fullmatch, metadata.get_all("Classifier") or ())
    named = sorted({match[1] for match in matches if match})
    unknown = [name for name in named if name not in _SPDX]
    if unknown or not named:
        said = f"the licence {', '.join(unknown)!r}" if unknown else "no licence"
        raise SystemExit(
            f"the metadata of {metadata['Name']} names {said}, and supply/packages.py does not "
            "know what SPDX calls it. Look it up, and add it there."
        )
    return " OR ".join(sorted({_SPDX[name] for name in named}))


# --- the page ------------------------------------------------------------------------------------


def page_packages() -> list[Package]:
    """What the page is built of, by the lock file."""
    lock: dict[str, Any] = msgspec.json.decode((WEB / "package-lock.json").read_bytes())
    rows = {
        place.removeprefix("node_modules/"): row
        for place, row in lock["packages"].items()
        if place and not row.get("dev")
    }
    built_in = {name: row for name, row in rows.items() if not _TYPES_ONLY.fullmatch(name)}
    return [
        Package(
            "npm",
            name,
            row["version"],
            row["license"],
            needs=tuple(sorted(row.get("dependencies", {}).keys() & built_in.keys())),
            integrity=row["integrity"],
        )
        for name, row in sorted(built_in.items())
    ]


def needed_by_page() -> list[str]:
    """The packages that the page itself names."""
    said: dict[str, Any] = msgspec.json.decode((WEB / "package.json").read_bytes())
    return sorted(said["dependencies"])


def licence_file(package: Package) -> Path | None:
    """The text of the licence of a package of the page, where the packages are installed."""
    folder = WEB / "node_modules" / package.name
    return next(iter(sorted(folder.glob("LICEN[SC]E*"))), None)
