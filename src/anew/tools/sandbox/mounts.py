"""What the file system looks like inside `bubblewrap`: arguments, in the order of the mounts.

A later mount lies over an earlier one, so the order is the policy: everything read-only, private
places emptied, what the task needs put back, and what it must not see emptied again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import anew

# Homes, sockets and temporary files of everyone. Empty and private inside.
_EMPTIED = ("/home", "/root", "/run", "/tmp", "/var/tmp")
_RESOLVER = "/etc/resolv.conf"


def mounts(
    *, home: Path, folder: Path, scratch: Path, hidden: Sequence[Path], has_network: bool
) -> list[str]:
    """Arguments for bwrap: the task may change `folder` and `scratch`, and sees nothing hidden."""
    emptied = _emptied(home)
    return [
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(word for place in emptied for word in ("--perms", "1777", "--tmpfs", str(place))),
        *_shown(_needed(has_network), emptied),
        *_bound(folder, emptied),
        *_covered(hidden, emptied),
        # Once the folder that holds those of all runs is hidden: this run's, and no other.
        *_bound(scratch, [*emptied, *hidden]),
        *_covered(
            [path for path in hidden if scratch.resolve() in path.resolve().parents], emptied
        ),
    ]


def is_too_wide(folder: Path, *, home: Path) -> bool:
    """Whether letting a task write here would give it what is to be kept from it."""
    return any(kept.is_relative_to(folder.resolve()) for kept in _emptied(home))


def _emptied(home: Path) -> list[Path]:
    found = {Path(place).resolve() for place in _EMPTIED if Path(place).is_dir()}
    if home.is_dir() and home.resolve() != Path("/"):
        found.add(home.resolve())
    # An outer one first: it would lie over an inner one.
    return sorted(found)


def _needed(has_network: bool) -> Iterator[Path]:
    """What a task reads wherever it is installed: Python, this package, where names are found."""
    yield from map(Path, (sys.base_prefix, sys.prefix))
    yield Path(anew.__file__).parent
    if has_network:
        yield Path(_RESOLVER)


def _shown(needed: Iterator[Path], emptied: Sequence[Path]) -> Iterator[str]:
    for path in needed:
        real = path.resolve()
        if real.exists() and any(real.is_relative_to(place) for place in emptied):
            yield from (*_ways(real, emptied), "--ro-bind", str(real), str(real))


def _bound(path: Path, emptied: Sequence[Path]) -> Iterator[str]:
    real = path.resolve()
    yield from (*_ways(real, emptied), "--bind", str(real), str(real))


def _ways(real: Path, emptied: Sequence[Path]) -> Iterator[str]:
    """The folders above it in an emptied place: left to itself, bwrap makes them for root alone."""
    for above in reversed(real.parents):
        if any(above != place and above.is_relative_to(place) for place in emptied):
            yield from ("--dir", str(above))


def _covered(hidden: Sequence[Path], emptied: Sequence[Path]) -> Iterator[str]:
    """Only what is there: a mount would make what is not, for everyone to see."""
    for path in hidden:
        real = path.resolve()
        if real.is_dir():
            yield from (*_ways(real, emptied), "--tmpfs", str(real))
        elif real.exists():
            yield from (*_ways(real, emptied), "--ro-bind", os.devnull, str(real))
