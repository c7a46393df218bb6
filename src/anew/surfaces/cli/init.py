"""`anew init`: copy a template, which is a small project, into a folder.

Templates are folders in `surfaces/templates`, and what is to be said of one is in its README. Knows
nothing of documents.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from anew.errors import ConfigError
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.excerpts import visible

TEMPLATES = Path(__file__).parents[1] / "templates"
_README = "README.md"
# The title, and the first commands.
_TITLE = re.compile(r"\A# ([^\n]+)\n")
_COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


class ProjectTemplate(Struct, frozen=True):
    """A folder to copy; `commands` are what to type in the copy."""

    name: str
    title: str
    commands: list[str]

    @property
    def files(self) -> list[Path]:
        """Its files, as paths below its folder; none of those that Python has left there."""
        folder = TEMPLATES / self.name
        found = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return [path for path in found if "__pycache__" not in path.parts]


def run(words: list[str]) -> int:
    parser = parser_for(
        "init",
        purpose="Copy a template into a folder: a document, its scenarios and a README. Without a\n"
        "name it asks at a terminal which one, and lists them anywhere else. Files that are\n"
        "there already are left alone, and then nothing is written.",
        example="anew init flaky-api\nanew init approval flows/release\nanew init --list",
    )
    parser.add_argument("template", metavar="TEMPLATE", nargs="?", help="the name of the template")
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", help="where to write it (default: its name)"
    )
    parser.add_argument("--list", action="store_true", help="list the templates")
    asked = parser.parse_args(words)
    templates = all_templates()
    if asked.list:
        print("\n".join(_lines(templates)))
        return status.DONE
    name = asked.template or _chosen(templates)
    if name is None:
        return status.BAD
    template = _named(name, templates)
    folder = Path(asked.folder or template.name)
    _copy(template, folder)
    _tell(template, folder)
    return status.DONE


def all_templates() -> list[ProjectTemplate]:
    """By name."""
    return [_read(path) for path in sorted(TEMPLATES.iterdir()) if (path / _README).is_file()]


def _read(folder: Path) -> ProjectTemplate:
    text = (folder / _README).read_text(encoding="utf-8")
    title, commands = _TITLE.search(text), _COMMANDS.search(text)
    assert title, f"the README of {folder.name} has no title"
    return ProjectTemplate(folder.name, title[1], commands[1].splitlines() if commands else [])


def _lines(templates: Sequence[ProjectTemplate]) -> list[str]:
    width = max(len(one.name) for one in templates)
    return [f"{one.name:<{width}}  {one.title}" for one in templates]


def _chosen(templates: Sequence[ProjectTemplate]) -> str | None:
    """What a person at the terminal chooses, by name or number; None when there is no person."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("anew: name one of these templates, as in `anew init flaky-api`:", file=sys.stderr)
        print("\n".join(_lines(templates)), file=sys.stderr)
        return None
    for number, line in enumerate(_lines(templates), 1):
        print(f"{number:>2}  {line}")
    try:
        said = input("Which one? ").strip()
    except EOFError:
        said = ""
    if said.isascii() and said.isdigit() and 1 <= int(said) <= len(templates):
        return templates[int(said) - 1].name
    if not said:
        print("anew: nothing was chosen, and nothing was written", file=sys.stderr)
    return said or None


def _named(name: str, templates: Sequence[ProjectTemplate]) -> ProjectTemplate:
    known = {one.name: one for one in templates}
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else "`anew init --list` lists them."
    raise ConfigError(f"there is no template {name[:80]!r}. {remedy}")


def _copy(template: ProjectTemplate, folder: Path) -> None:
    """Write all of its files, or none of them."""
    taken = [path for path in (folder / file for file in template.files) if path.exists()]
    if taken or (folder.exists() and not folder.is_dir()):
        which = taken[0] if taken else folder
        raise ConfigError(
            f"{which} is there already, so nothing was written. "
            f"Name another folder: anew init {template.name} DIR"
        )
    for file in template.files:
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as stream:
            stream.write((TEMPLATES / template.name / file).read_bytes())


def _tell(template: ProjectTemplate, folder: Path) -> None:
    print(f"wrote {len(template.files)} files to {visible(str(folder))}:")
    for file in template.files:
        print(f"  {file}")
    print("next:")
    here = [] if folder == Path() else [f"cd {visible(str(folder))}"]
    for command in [*here, *template.commands]:
        print(f"  {command}")
