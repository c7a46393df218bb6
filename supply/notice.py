"""Write NOTICE: whose work Anew uses, under which licences.

Packages of Python are installed beside Anew and bring their licences themselves, so that their
names suffice. The page holds those of npm, whose licences ask to be passed on as they are.
"""

from __future__ import annotations

from supply.packages import Package, licence_file, page_packages, python_packages
from supply.pins import ROOT

NOTICE_FILE = ROOT / "NOTICE"

_HEAD = """\
Anew
Licensed under the Apache License, Version 2.0; see LICENSE.

`make notice` writes this file from the metadata of the packages.
"""
_PYTHON = """
Packages that are installed with Anew
-------------------------------------
Each brings the text of its licence. Those marked * come with an extra only, as
`anew[agents]` and `anew[duckdb]` are.

"""
_PAGE = """
Packages that are built into the page of the server
---------------------------------------------------

"""


def write_notice() -> str:
    """Write it for what is installed now; the text says what was done."""
    python, page = python_packages(), page_packages()
    missing = [package.name for package in page if licence_file(package) is None]
    if missing:
        raise SystemExit(f"no licence of {', '.join(missing)} is installed; run `make web` first")
    NOTICE_FILE.write_text(notice_text(python, page), encoding="utf-8")
    return f"{NOTICE_FILE.name}: {len(python)} packages of Python, {len(page)} of the page"


def notice_text(python: list[Package], page: list[Package]) -> str:
    """All of NOTICE."""
    lines = [_HEAD, _PYTHON, *map(row_of, python), _PAGE, *map(row_of, page)]
    for package in page:
        path = licence_file(package)
        text = path.read_text(encoding="utf-8").strip() if path else ""
        lines.append(f"\n{'=' * 80}\n{package.name} {package.version}\n\n{text}\n")
    return "".join(lines)


def row_of(package: Package) -> str:
    """The line of one package."""
    mark = " *" if package.is_optional else ""
    return f"{package.name} {package.version} ({package.licence}){mark}\n"
