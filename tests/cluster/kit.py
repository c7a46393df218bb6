"""A cluster of real processes on this machine: servers, workers, a database, and proxies between.

Everything that is told to it is kept, so that the auditor can be asked at the end. Every wait is
bounded; whatever was started is ended with the cluster.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict

from tests.cluster.asking import TOKEN, UNREACHED, Answer, ask
from tests.cluster.auditing import Account, complaints
from tests.cluster.proxy import Proxy
from tests.cluster.spawning import Process, Spawner
from tests.crash.auditor import Row, Story
from tests.crash.effect_tool import LEDGER_VARIABLE
from tests.crash.kit import Hung

LEASE_SECONDS = 2.0
# How long anything may take that is to happen once a fault is over.
HEALED_SECONDS_MAX = 18.0
# These looks cost the processes that are looked at some of the machine.
POLL_SECONDS = 0.01
# How PostgreSQL ends every answer.
READY_FOR_QUERY = b"Z\x00\x00\x00\x05"
SERVING = re.compile(r"http://127\.0\.0\.1:(\d+)")
UNFINISHED = ("queued", "running", "waiting", "paused")


class Cluster:
    """`dsn` is the database all share, unless a process is given another way to it: PostgreSQL's
    connection string, or the path of a file that the only server owns.

    `faults` counts what may cost a step-run its worker: whoever breaks something counts it.
    """

    def __init__(
        self, folder: Path, spawner: Spawner, *, dsn: str, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self.folder = folder
        self.url = url_of(dsn)
        self.faults = 0
        self.has_stalled = False
        self.acknowledged: dict[str, str] = {}
        self._processes: dict[str, Process] = {}
        self._ports: dict[str, int] = {}
        self._proxies: list[Proxy] = []
        self._said: dict[str, str] = {}
        self._spawner = spawner
        self._lease_seconds = lease_seconds
        self._turn = count()

    # --- processes -----------------------------------------------------------------------------

    def server(
        self, name: str, *words: str, db: str | None = None, skew: float = 0.0, **env: str
    ) -> str:
        """A server that listens; its address."""
        port = self._ports.get(name, 0)
        words = ("serve", "--port", str(port), "--db", db or self.url, *words)
        process = self._begin(name, words, skew=skew, env=env)

        def listens() -> bool:
            if process.has_ended:
                raise Hung(f"{name} does not serve. It said: {process.said()}")
            return SERVING.search(process.said()) is not None

        self.soon(listens, f"{name} to listen")
        found = SERVING.search(process.said())
        assert found is not None
        self._ports[name] = int(found[1])
        return self.address(name)

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self._ports[name]}"

    def worker(self, name: str, *words: str, skew: float = 0.0, **env: str) -> Process:
        """A worker; with neither `--server` nor `--db` it speaks to the database."""
        if "--server" not in words and "--db" not in words:
            words = ("--db", self.url, *words)
        return self._begin(name, ("worker", *words), skew=skew, env=env)

    def command(self, *words: str, module: str = "anew.surfaces.cli.main", **env: str) -> Process:
        """Any other command, at the database unless its words say otherwise."""
        name = f"command-{next(self._turn)}"
        return self._begin(name, words, module=module, env={"ANEW_DB": self.url, **env})

    def _begin(
        self,
        name: str,
        words: Iterable[str],
        *,
        module: str = "anew.surfaces.cli.main",
        skew: float = 0.0,
        env: dict[str, str],
    ) -> Process:
        number = next(self._turn)
        settings = {
            "ANEW_TOKEN": TOKEN,
            "ANEW_LEASE_SECONDS": f"{self._lease_seconds:g}",
            "ANEW_SCRATCH": str(self.folder / f"scratch-{name}"),
            LEDGER_VARIABLE: str(self.folder / f"ledger-{name}"),
        }
        request = {
            "module": module,
            "words": list(words),
            "folder": str(self.folder),
            "env": settings | env,
            "skew_seconds": skew,
            "out": str(self.folder / f"out-{name}-{number}"),
            "err": str(self.folder / f"err-{name}-{number}"),
        }
        return self._keep(Process(self._spawner, name, request))

    def _keep(self, process: Process) -> Process:
        before = self._processes.get(process.name)
        if before is not None:
            self._said[process.name] = self._said.get(process.name, "") + before.err()
        self._processes[process.name] = process
        return process

    def __getitem__(self, name: str) -> Process:
        return self._processes[name]

    def kill(self, name: str) -> None:
        """SIGKILL, and nobody comes in its place."""
        self.faults += 1
        self[name].kill()

    def restart(self, name: str) -> None:
        """Begin a process that has ended once more, with the same words, a server at its port."""
        process = self[name]
        assert process.has_ended
        words: list[str] = process.request["words"]
        skew, env = process.request["skew_seconds"], process.request["env"]
        if name in self._ports:
            self.server(name, *words[5:], db=words[4], skew=skew, **env)
        else:
            self._begin(name, words, skew=skew, env=env)

    def freeze(self, name: str) -> None:
        self.faults += 1
        self.has_stalled = True
        self[name].freeze()

    def proxy(self, upstream: str, *, heard: Callable[[int, bytes], None] | None = None) -> Proxy:
        """A network of its own to a server (its address), or to PostgreSQL (its URL)."""
        made = Proxy(_reached(upstream), heard=heard)
        self._proxies.append(made)
        return made

    def close(self) -> None:
        for proxy in self._proxies:
            proxy.close()
        for process in self._processes.values():
            process.thaw()
            process.kill()

    def soon(
        self, holds: Callable[[], Any], what: str, *, seconds: float = HEALED_SECONDS_MAX
    ) -> Any:
        """What `holds` gives once it is true; else what everyone said, for whoever looks into it."""
        until = time.monotonic() + seconds
        while not (found := holds()):
            if time.monotonic() > until:
                raise Hung(f"waited {seconds:g} s for {what}\n{self.told()}")
            time.sleep(POLL_SECONDS)
        return found

    # --- what its clients do -------------------------------------------------------------------

    def ask(self, path: str, *, server: str | None = None, **request: Any) -> Answer:
        """At that server, or at any that answers."""
        if server is not None:
            return ask(self.address(server), path, **request)
        names = list(self._ports)
        for _ in names:
            name = names[next(self._turn) % len(names)]
            try:
                return ask(self.address(name), path, **request)
            except UNREACHED as error:
                reason = error
        raise ConnectionError(f"no server answers: {reason}")

    def register(self, document: str) -> None:
        answer = self.ask("/api/v1/programs", method="POST", body={"document": document})
        assert answer.status in (200, 201), answer

    def start(self, document: str, key: str, *, server: str | None = None, **more: Any) -> str:
        """The run, once a server has acknowledged it."""
        body = {"document": document, "key": key, **more}

        def acknowledged() -> str | None:
            try:
                answer = self.ask("/api/v1/runs", server=server, method="POST", body=body)
            except UNREACHED:
                return None
            if answer.status >= 500:
                return None
            assert answer.status in (200, 201), answer
            run: str = answer.body["run"]
            return run

        run: str = self.soon(acknowledged, f"the start {key} to be acknowledged")
        assert self.acknowledged.setdefault(key, run) == run
        return run

    def run(self, run: str, *, server: str | None = None) -> dict[str, Any]:
        answer = self.ask(f"/api/v1/runs/{run}", server=server)
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.body
        return found

    def events(self, run: str) -> list[Row]:
        answer = self.ask(f"/api/v1/runs/{run}/events?limit=1000")
        assert answer.status == 200, answer
        found: list[Row] = answer.body["events"]
        return found

    def until(
        self, run: str, *statuses: str, seconds: float = HEALED_SECONDS_MAX
    ) -> dict[str, Any]:
        """The run, once it has one of these statuses."""

        def reached() -> dict[str, Any] | None:
            try:
                found = self.run(run)
            except UNREACHED:
                return None
            return found if found["status"] in statuses else None

        found: dict[str, Any] = self.soon(reached, f"run {run} to be {statuses}", seconds=seconds)
        return found

    def unfinished(self) -> list[Row]:
        """Some of the runs that have not ended."""
        words = "&".join(f"status={word}" for word in UNFINISHED)
        answer = self.ask(f"/api/v1/runs?{words}&limit=5")
        if answer.status >= 500:
            raise ConnectionError(f"no server can tell: {answer}")
        found: list[Row] = answer.body["runs"]
        return found

    def has_ended(self) -> bool:
        """Whether every run has; not while nobody can tell."""
        try:
            return not self.unfinished()
        except UNREACHED:
            return False

    def until_all_ended(self, seconds: float = HEALED_SECONDS_MAX) -> None:
        self.soon(self.has_ended, "all runs to end", seconds=seconds)

    # --- what they leave -----------------------------------------------------------------------

    def effects(self, what: str = "called", *, by: str = "*") -> list[Row]:
        """What the world saw, in its order; `by` names a process."""
        rows = [
            json.loads(line) | {"by": ledger.name.removeprefix("ledger-")}
            for ledger in self.folder.glob(f"ledger-{by}")
            for line in ledger.read_text(encoding="utf-8").splitlines()
        ]
        return sorted((row for row in rows if row["what"] == what), key=lambda row: row["at"])

    def until_seen(self, calls: int, *, by: str = "*", run: str | None = None) -> list[Row]:
        """The effects, once there are so many."""

        def seen() -> list[Row] | None:
            rows = self.effects(by=by)
            rows = rows if run is None else [row for row in rows if str(row["run"]) == run]
            return rows if len(rows) >= calls else None

        found: list[Row] = self.soon(seen, f"{calls} calls")
        return found

    def read(self) -> dict[str, Any]:
        """What the database tells when everything is over."""
        ended = self.command(module="tests.cluster.reading").wait()
        assert ended.status == 0, ended.err
        found: dict[str, Any] = json.loads(ended.out)
        return found

    def complaints(
        self, found: dict[str, Any], attempts: dict[str, int] | None = None
    ) -> list[str]:
        """What the auditor says of it all."""
        story = Story(
            found["runs"],
            found["logs"],
            found["replays"],
            self.effects(),
            self.faults,
            attempts or {},
        )
        errors = {name: process.err() for name, process in self._processes.items()}
        said = {name: self._said.get(name, "") + text for name, text in errors.items()}
        return complaints(Account(story, self.acknowledged, self.has_stalled, said))

    def told(self) -> str:
        """What the processes said last, for whoever has to find out what went wrong."""
        return "\n".join(
            f"--- {name}: {process.said()[-1000:]}" for name, process in self._processes.items()
        )


def url_of(dsn: str) -> str:
    """A connection string as an address; the path of a file is one."""
    if "=" not in dsn:
        return dsn
    parts = {key: str(value) for key, value in conninfo_to_dict(dsn).items() if value}
    place = f"{parts.get('user', 'postgres')}@"
    if parts.get("host", "").startswith("/"):
        return f"postgresql://{place}/{parts['dbname']}?host={parts['host']}"
    return f"postgresql://{place}{parts['host']}:{parts.get('port', '5432')}/{parts['dbname']}"


def through(proxy: Proxy, url: str) -> str:
    """The same database, or the same server, by way of a proxy."""
    if url.startswith("http"):
        return f"http://127.0.0.1:{proxy.port}"
    parts = conninfo_to_dict(url)
    return f"postgresql://{parts['user']}@127.0.0.1:{proxy.port}/{parts['dbname']}"


def lose(proxy: Proxy, *, is_http: bool, times: int) -> None:
    """Lose answers to commits, of the server or of PostgreSQL, which knows them by that name."""
    if is_http:
        proxy.lose_answers(b"store.commit", answered=b"HTTP/1.1 ", times=times, every=2)
    else:
        proxy.lose_answers(b"\0anew_0\0", answered=READY_FOR_QUERY, times=times, every=3)


def _reached(url: str) -> tuple[str, int] | str:
    if url.startswith("http"):
        host, port = url.removeprefix("http://").split(":")
        return host, int(port)
    parts = conninfo_to_dict(url)
    host, number = str(parts["host"]), int(str(parts.get("port") or 5432))
    return f"{host}/.s.PGSQL.{number}" if host.startswith("/") else (host, number)
