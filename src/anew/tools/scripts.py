"""The text of a `script`: from a file, from the document itself, over HTTP, or from a package.

A file is looked for next to the document, then in the folder this process works in, when the task
is called. Knows where texts are. Does not know what they are written in.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.files import read_regular
from anew.program.kinds import SCRIPT_ENTRY_POINT_GROUP
from anew.tool import Call, Timeout, Tool
from anew.values import Object, Value

# Scripts are written by hand; more is a data file that was named by mistake.
SCRIPT_BYTES_MAX = 1 << 22
# For one that is fetched, unless its source has a `timeout`.
SCRIPT_SECONDS = 30.0
_HTTP_INPUTS = ("method", "headers", "auth")


class ScriptFailure(Exception):
    """There is no text; `outcome` says why."""

    def __init__(self, kind: str, message: str, **more: Value) -> None:
        super().__init__(message)
        self.outcome = outcome_of(error=error_of(kind, message, **more))


class ScriptFile(Struct, frozen=True):
    """A script that lies in a file: in the first of these places that has one."""

    name: str
    places: tuple[str, ...]


class Scripts:
    """Finds the scripts of one tool's calls."""

    def __init__(self) -> None:
        self._http: Tool | None = None

    async def of(self, call: Call) -> ScriptFile | str:
        """The file that the call names, or the text from elsewhere; raises ScriptFailure."""
        said = call.inputs.get("script")
        if isinstance(said, str):
            return _file(call, said)
        source = said.get("source") if isinstance(said, Mapping) else None
        if not isinstance(said, Mapping) or not isinstance(source, Mapping):
            raise ScriptFailure("config", "script must be a file, or a mapping of uri and source")
        uri, origin = said.get("uri"), source.get("type")
        if origin == "file":
            return _file(call, uri)
        fetched = self._over_http if origin == "http" else _from_package
        seconds = _seconds(source.get("timeout"))
        try:
            async with asyncio.timeout(seconds):
                return _checked(await fetched(call, uri, source), f"of {call.place.task}")
        except TimeoutError:
            message = f"timeout: the script of {call.place.task} did not come in {seconds:g} s"
            raise ScriptFailure("timeout", message) from None

    async def read(self, call: Call) -> str:
        """The text, wherever it is; raises ScriptFailure."""
        found = await self.of(call)
        return found if isinstance(found, str) else await asyncio.to_thread(_read, found)

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()

    async def _over_http(self, call: Call, uri: Value, source: Mapping[str, Value]) -> Value:
        if self._http is None:
            # Few scripts come from there, and its library is large.
            from anew.tools.http import HttpTool  # noqa: PLC0415

            self._http = HttpTool()
        inputs: Object = {name: source[name] for name in _HTTP_INPUTS if name in source}
        inputs["url"] = source.get("endpoint") or uri
        answer = await self._http.call(replace(call, kind="http", inputs=inputs, timeout=Timeout()))
        assert isinstance(answer, Outcome)
        if answer.error is not None:
            error = answer.error
            more = {key: error[key] for key in ("code", "retry_after") if key in error}
            message = f"{error['message']} (script of {call.place.task})"
            raise ScriptFailure(str(error["kind"]), message, **more)
        return answer.result["data"]


def _file(call: Call, said: Value) -> ScriptFile:
    if not isinstance(said, str) or not said or "\0" in said:
        raise ScriptFailure(
            "config", f"the uri of a script must be the path of a file, not {said!r}"
        )
    folders = (str(call.folder.resolve()), os.getcwd())
    return ScriptFile(said, tuple(dict.fromkeys(os.path.join(each, said) for each in folders)))


def _read(file: ScriptFile) -> str:
    for place in file.places:
        try:
            return _checked(read_regular(place, SCRIPT_BYTES_MAX + 1), file.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as problem:
            why = problem.strerror or problem
            raise ScriptFailure("config", f"the script {place} cannot be read: {why}") from None
    raise ScriptFailure("reference", missing_script(file.name, file.places))


def missing_script(name: str, places: tuple[str, ...] | list[str]) -> str:
    """What to tell of a script that is in none of its places."""
    return (
        f"the script {name!r} was not found: looked at {' and '.join(places)}. "
        "Put it next to the document, on every machine that executes its tasks."
    )


def _checked(text: object, name: str) -> str:
    """A text that is not too long."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
    if not isinstance(data, bytes):
        raise ScriptFailure("config", f"the script {name} is not a text")
    if len(data) > SCRIPT_BYTES_MAX:
        limit = f"{SCRIPT_BYTES_MAX:,} bytes (SCRIPT_BYTES_MAX)"
        raise ScriptFailure("limit_exceeded", f"the script {name} has more than {limit}")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ScriptFailure("config", f"the script {name} is not text in UTF-8") from None


async def _from_package(call: Call, uri: Value, source: Mapping[str, Value]) -> Any:
    """What a package's function gives for a uri and its source, whose `auth` is resolved."""
    del call
    # Slow to import, and needed for sources that are not ours only.
    from importlib.metadata import entry_points  # noqa: PLC0415

    origin = source.get("type")
    for point in entry_points(group=SCRIPT_ENTRY_POINT_GROUP, name=str(origin)):
        try:
            given = await asyncio.to_thread(point.load(), uri, dict(source))
            return await given if inspect.isawaitable(given) else given
        except Exception as error:
            message = f"the script {uri} cannot be read: {type(error).__name__}: {error}"
            raise ScriptFailure("reference", message) from None
    raise ScriptFailure(
        "config",
        f"no script can be read from a source of type {origin!r} here: it is file or http, "
        f"or what a package registers in the entry-point group {SCRIPT_ENTRY_POINT_GROUP!r}",
    )


def _seconds(said: Value) -> float:
    if said is None or said == "":
        return SCRIPT_SECONDS
    try:
        seconds = float(said)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ScriptFailure("config", f"timeout of a script's source must be seconds, not {said!r}")
    return seconds
