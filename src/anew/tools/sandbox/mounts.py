"""What the file system looks like inside `bubblewrap`: arguments, in the order of the mounts.

It begins empty, and shows what is named: programs and libraries, a few files of `/etc`, Python,
the folder of the document. A later mount lies over an earlier one, so the order is the policy: what
is shown, read-only; private places, emptied; what lies in them and is needed; what no task may see,
covered; and last the few folders that a task may change.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import anew

# Homes, sockets and temporary files of everyone. Empty and private inside.
_EMPTIED = ("/home", "/root", "/run", "/tmp", "/var/tmp")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Of /etc only what programs cannot do without, because services keep secrets there.
_CONFIGURATION = (
    *("passwd", "group", "nsswitch.conf", "hosts", "host.conf", "gai.conf", "protocols"),
    *("services", "mime.types", "localtime", "timezone", "os-release", "alternatives"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf"),
    *("ca-certificates", "ca-certificates.conf", "pki/tls/certs", "pki/ca-trust/extracted"),
)
_RESOLVER = "/etc/resolv.conf"
_LIBRARIES = ("site-packages", "dist-packages")


def mounts(
    *,
    home: Path,
    folder: Path,
    writable: Sequence[Path] = (),
    shown: Sequence[Path] = (),
    hidden: Sequence[Path] = (),
    has_network: bool = False,
) -> list[str]:
    """Arguments for bwrap: a task reads `folder`, changes `writable`, and sees nothing hidden."""
    emptied = _emptied(home)
    needed = [*_configuration(has_network), *_python(), *shown]
    early = [path for path in needed if not _is_in(path.resolve(), emptied)]
    late = [path for path in needed if path not in early]
    # In one that it may change, a task could put a link in the place of the folder.
    late += [] if _is_in(folder, writable) else [folder.resolve()]
    return [
        *_system(),
        *_views(early, "--ro-bind"),
        *("--dev", "/dev", "--proc", "/proc"),
        *_empty(emptied),
        *_views(late, "--ro-bind"),
        *_covered(hidden, [*early, *late]),
        *_views(writable, "--bind"),
        *("--remount-ro", "/"),
    ]


def is_too_wide(folder: Path, *, home: Path) -> bool:
    """Whether giving a task this folder would give it what is to be kept from it."""
    return any(kept.is_relative_to(folder.resolve()) for kept in _emptied(home))


def is_out_of_sight(folder: Path, *, home: Path) -> bool:
    """Whether it lies in a folder of a home whose name begins with a dot, such as `.ssh`."""
    real = folder.resolve()
    return any(
        part.startswith(".")
        for place in _emptied(home)
        if real.is_relative_to(place)
        for part in real.relative_to(place).parts
    )


def _is_in(path: Path, places: Iterable[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _emptied(home: Path) -> list[Path]:
    found = {Path(place).resolve() for place in _EMPTIED if Path(place).is_dir()}
    if home.is_dir() and home.resolve() != Path("/"):
        found.add(home.resolve())
    # An outer one first: it would lie over an inner one.
    return sorted(found)


def _empty(emptied: Sequence[Path]) -> Iterator[str]:
    for place in emptied:
        yield from (*_ways(place), "--perms", "1777", "--tmpfs", str(place))


def _system() -> Iterator[str]:
    """Programs and libraries; on most systems `/bin` is a link to `/usr/bin`."""
    for name in _SYSTEM:
        if os.path.islink(name):
            yield from ("--symlink", os.readlink(name), name)
        elif os.path.isdir(name):
            yield from ("--ro-bind", name, name)


def _configuration(has_network: bool) -> Iterator[Path]:
    yield from (Path("/etc", name) for name in _CONFIGURATION)
    if has_network:
        yield Path(_RESOLVER)


def _python() -> Iterator[Path]:
    """Python, its libraries and this package, wherever they are installed."""
    yield from map(Path, (sys.base_prefix, sys.prefix))
    yield from (Path(place) for place in sys.path if os.path.basename(place) in _LIBRARIES)
    yield Path(anew.__file__).parent


def _views(paths: Iterable[Path], how: str) -> Iterator[str]:
    """Each under its own name and under its real one: programs use either."""
    done: set[Path] = set()
    for path in paths:
        real = path.resolve()
        for seen in (real, path.absolute()):
            if seen not in done and real.exists():
                done.add(seen)
                yield from (*_ways(seen), how, str(real), str(seen))


def _ways(path: Path) -> Iterator[str]:
    """The folders above it: left to itself, bwrap makes them for root alone."""
    for above in reversed(path.parents[:-1]):
        yield from ("--dir", str(above))


def _covered(hidden: Sequence[Path], shown: Sequence[Path]) -> Iterator[str]:
    """Only what is there and shown: a mount would make what is not, for everyone to see."""
    for path in hidden:
        kept = path.resolve()
        for view in shown:
            real = view.resolve()
            for seen in {real, view.absolute()}:
                if real.is_relative_to(kept):
                    yield from _cover(real, seen)
                elif kept.is_relative_to(real):
                    yield from _cover(kept, seen / kept.relative_to(real))


def _cover(kept: Path, seen: Path) -> Iterator[str]:
    if kept.is_dir():
        yield from ("--tmpfs", str(seen))
    elif kept.exists():
        yield from ("--ro-bind", os.devnull, str(seen))
