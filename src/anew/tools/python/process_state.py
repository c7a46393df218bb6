"""What code can change in its process, put back after it so that the next code starts alike.

Says when that is impossible: the process is then spent and the worker ends it.
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import signal
import sys
import warnings
from itertools import takewhile
from types import ModuleType

from anew.tools.python.records import Loggers

# What a process may keep after a call, libraries it imported included, before it is replaced.
PROCESS_GROWTH_BYTES_MAX = 1 << 29

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGHUP)
_HOME_MEMORY: list[int] = []


class ProcessState:
    """Taken before the code runs; `enter` makes its folder the place it runs in."""

    def __init__(self) -> None:
        self._path = list(sys.path)
        self._argv = list(sys.argv)
        self._environment = dict(os.environ)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        # Names would do, but to look at them all makes a fork copy the page of each.
        self._modules = len(sys.modules), next(reversed(sys.modules))
        self._recursion = sys.getrecursionlimit()
        self._handlers = [signal.getsignal(number) for number in _SIGNALS]
        self._warnings = list(warnings.filters)
        self._umask = os.umask(0o077)
        os.umask(self._umask)
        self._threads = _threads()
        self._loggers = Loggers()
        if not _HOME_MEMORY:
            _HOME_MEMORY.append(_memory_bytes())

    def enter(self, folder: str, script: str) -> None:
        self._folder = folder
        os.chdir(folder)
        sys.path.insert(0, folder)
        sys.argv[:] = [script]
        importlib.invalidate_caches()
        # Code that seeds it must not make the next code's choices foreseeable.
        random.seed()

    def put_back(self) -> bool:
        """Undo what can be undone; False when the process should not run more code."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        for number, handler in zip(_SIGNALS, self._handlers, strict=True):
            signal.signal(number, handler)
        self._forget_modules()
        sys.path[:], sys.argv[:] = self._path, self._argv
        if os.environ != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        sys.setrecursionlimit(self._recursion)
        warnings.filters[:] = self._warnings  # type: ignore[index]
        os.umask(self._umask)
        self._loggers.put_back()
        return self._has_its_streams() and not self._has_company() and not _is_large()

    def _forget_modules(self) -> None:
        """Modules beside the document may change, and another document may have its own."""
        added = {self._folder, *map(os.path.abspath, set(map(str, sys.path)) - set(self._path))}
        new = self._new_modules()
        own = {name for name in new if _is_found_in(added, sys.modules[name])}
        for name in new:
            if name.partition(".")[0] in own:
                del sys.modules[name]

    def _new_modules(self) -> list[str]:
        """New ones come after the one that was the last; all, if code took some out."""
        number, last = self._modules
        found = list(takewhile(lambda name: name != last, reversed(sys.modules)))
        return found if len(found) == len(sys.modules) - number else list(sys.modules)

    def _has_its_streams(self) -> bool:
        now = (sys.stdin, sys.stdout, sys.stderr)
        if any(a is not b or a.closed for a, b in zip(now, self._streams, strict=True)):
            return False
        try:
            return all(os.fstat(fd) for fd in (0, 1, 2))
        except OSError:
            return False

    def _has_company(self) -> bool:
        """Whether threads or processes the code started are still there."""
        if _threads() > self._threads:
            return True
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except (ChildProcessError, AttributeError):
            return False
        return True


def _threads() -> int:
    """Those that run Python, however they were started; not those inside of libraries."""
    return len(sys._current_frames())


def _is_found_in(folders: set[str], module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    if spec is None:
        return False
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    return any(os.path.dirname(place) in folders for place in places)


def _is_large() -> bool:
    return _memory_bytes() - _HOME_MEMORY[0] > PROCESS_GROWTH_BYTES_MAX


def _memory_bytes() -> int:
    """What the process holds now; where only the peak is known, that."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
