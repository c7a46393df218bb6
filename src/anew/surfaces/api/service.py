"""What the requests to one server share: its engine, its settings, and what is counted."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from anew.credentials.key import SealingKey, find_key, need_key
from anew.environment import environment
from anew.errors import ConfigError
from anew.runtime.engine import Engine
from anew.runtime.lease_dispatcher import LeaseDispatcher
from anew.runtime.webhooks import Webhooks
from anew.surfaces.api.background_analyses import BackgroundAnalyses
from anew.surfaces.api.documents import DocumentCompiler
from anew.surfaces.api.failure_throttle import FailureThrottle
from anew.surfaces.api.metrics import Metrics
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.settings import READINGS_MAX, ApiSettings
from anew.surfaces.api.traces import Traces

_LOG = logging.getLogger("anew.api")


class Service:
    """Of one server process. `stopping` is set once no request shall wait any longer."""

    def __init__(self, engine: Engine, settings: ApiSettings) -> None:
        self.engine = engine
        self.settings = settings
        self.throttle = FailureThrottle(settings.failure_pause_seconds_max)
        self.compiler = DocumentCompiler()
        self.metrics = Metrics(engine, streams=lambda: self.streams)
        self.dispatcher = LeaseDispatcher(engine.database)
        self.stopping = asyncio.Event()
        self.streams = 0
        self.reading = asyncio.Semaphore(READINGS_MAX)
        self.analyses = BackgroundAnalyses()
        self.traces = Traces(engine.database.archive, self.reading)
        self._webhooks: Webhooks | None = None
        try:
            self._find_webhooks()
        except ConfigError as error:
            _LOG.error("webhooks are answered with 404: %s", error)

    def webhooks(self) -> Webhooks | None:
        """Those of the server's key; None when it has none yet, or none that it can use.

        Strangers ask: nothing is made for them, and nothing is told.
        """
        if self._webhooks is None:
            with suppress(ConfigError):
                self._find_webhooks()
        return self._webhooks

    def _find_webhooks(self) -> None:
        key = find_key(environment(), Path.home())
        self._webhooks = None if key is None else Webhooks(key.secret)

    def need_key(self) -> SealingKey:
        """The server's key, made now if there is none; ApiError when it cannot be used."""
        try:
            return need_key(environment(), Path.home())
        except ConfigError as error:
            _LOG.error("%s", error)
            detail = "the server has no key that it can use. Its log says why."
            raise ApiError("unavailable", detail) from error

    async def close(self) -> None:
        """Let nothing wait any more, and listen no longer. ApiRequest again, it does nothing."""
        self.stopping.set()
        self.metrics.close()
        await self.dispatcher.close()
