"""What a server counts, for Prometheus. Each server has a registry of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from anew.engine import events as e
from anew.runtime.engine import Engine
from anew.store import Notice, RunId

_ENDINGS: dict[type, str] = {
    e.RunDone: "done",
    e.RunFailed: "failed",
    e.RunCancelled: "cancelled",
}


class Metrics:
    """Counts from when it is made until it is closed."""

    def __init__(self, engine: Engine, *, streams: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        self.requests = self._counter(
            "http_requests", "Requests answered", "method", "path", "status"
        )
        self._commits = self._counter("commits", "Commits this process heard of")
        self._started = self._counter("runs_started", "Runs that started in this process")
        self._ended = self._counter("runs_ended", "Runs that ended in this process", "status")
        self._attempts = self._counter("attempts", "Executions of tasks in this process")
        self._retries = self._counter("retries", "Retries scheduled in this process")
        open_streams = self._gauge("streams", "Event streams that are open")
        open_streams.set_function(streams)
        self._stop_listening: Callable[[], None] = engine.database.notices.listen(
            self._count_commit
        )
        engine.listen(self._count_events)

    def close(self) -> None:
        """Count no more. ApiRequest again, it does nothing."""
        stop, self._stop_listening = self._stop_listening, _nothing
        stop()

    def text(self) -> tuple[bytes, str]:
        """The figures, and the media type they are written in."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, namespace="anew", registry=self._registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(name, about, namespace="anew", registry=self._registry)

    def _count_commit(self, notice: Notice) -> None:
        if notice.version:
            self._commits.inc()

    def _count_events(self, _: RunId, events: Sequence[e.Event]) -> None:
        for event in events:
            match event:
                case e.RunRequested():
                    self._started.inc()
                case e.TaskStarted():
                    self._attempts.inc()
                case e.TaskRetryScheduled():
                    self._retries.inc()
                case e.RunDone() | e.RunFailed() | e.RunCancelled():
                    self._ended.labels(_ENDINGS[type(event)]).inc()
                case _:
                    pass


def _nothing() -> None:
    """Nobody listens any more."""
