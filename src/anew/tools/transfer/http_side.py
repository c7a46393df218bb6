"""An HTTP server as a side of a transfer: pages of rows from it, batches of rows to it.

Every request is one of the `http` tool, with its guard, limits and errors.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.files import make_scratch
from anew.program.policy import OutcomeStatus
from anew.program.transfer import FORMAT_WORDS, RowFormat
from anew.tools.http import HttpTool
from anew.tools.inputs import BadInput
from anew.tools.sql.values import json_value
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.row_formats import rows_in, rows_of_text
from anew.tools.transfer.sides import Batch, Copied, Row, SideFailed, field_at
from anew.tools.transfer.whole_files import write_whole
from anew.values import Object, Value

# A server that always names a next page must not keep a task for ever.
TRANSFER_PAGES_MAX = 100_000
_LINK = "link"
# The addresses of a header `Link`, each with its parameters, and one of these.
_LINKS = re.compile(r'<([^>]*)>((?:[^,"]|"[^"]*")*)')
_LINK_PARAM = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s";,]+))')
_PAGING_KEYS = frozenset({"next", "param", "page", "offset", "first"})


def source_of(side: Side, resources: TransferResources) -> HttpSource:
    return HttpSource(side, resources.http)


def target_of(plan: TransferPlan, resources: TransferResources) -> HttpTarget:
    return HttpTarget(plan, resources.http)


class Paging(Struct, frozen=True):
    """How further pages are got; one of `next`, `page` and `offset`, or none of them."""

    next: str | None = None
    param: str | None = None
    page: str | None = None
    offset: str | None = None
    first: int = 1


class PagePosition(Struct, frozen=True):
    """The page that is read (a token of its own: address, cursor or number) and a row in it."""

    token: Value = None
    row: int = 0
    before: int = 0  # rows of the pages before

    @property
    def value(self) -> Object:
        return {"page": self.token, "row": self.row, "before": self.before}


class HttpSource:
    def __init__(self, side: Side, tool: HttpTool) -> None:
        self._side = side
        self._tool = tool
        self._paging = _paging_of(side.inputs.get("paginate"))
        self._url = str(side.text("url"))
        self._path = side.text("data_path") or ""
        self._format = _format_of(side.text("format"))

    async def batches(self, position: Value, size: int) -> AsyncGenerator[Batch, None]:
        said = position if isinstance(position, dict) else {}
        place = PagePosition(said.get("page"), said.get("row", 0), said.get("before", 0))
        last: list[Row] = []
        for _ in range(TRANSFER_PAGES_MAX):
            answer = await self._page(place)
            rows = self._rows(answer)
            self._refuse_same(rows, last)
            last = rows
            following = self._next(place, answer, len(rows))
            for start in range(place.row, len(rows), size):
                part = rows[start : start + size]
                after = replace(place, row=start + len(part))
                yield Batch(part, after.value)
            if following is None:
                return
            place = following
        raise BadInput(
            f"the source has more than {TRANSFER_PAGES_MAX:,} pages (TRANSFER_PAGES_MAX)"
        )

    def _refuse_same(self, rows: list[Row], last: list[Row]) -> None:
        """A server that does not know the parameter gives the first page for ever."""
        counted = self._paging.page or self._paging.offset
        if counted is not None and rows and rows == last:
            raise BadInput(
                f"two pages in a row have the same rows: the server does not heed {counted!r}, "
                "which `source.paginate` counts with"
            )

    async def _page(self, place: PagePosition) -> Outcome:
        inputs = {key: value for key, value in self._side.inputs.items() if key not in _OWN}
        inputs.update(self._asking(place))
        outcome = await self._tool.call(replace(self._side.call, kind="http", inputs=inputs))
        if outcome.status is OutcomeStatus.ERROR:
            raise SideFailed(outcome)
        return outcome

    def _asking(self, place: PagePosition) -> Object:
        """What a page's request has that the side does not say."""
        paging = self._paging
        if paging.page is not None:
            token = paging.first if place.token is None else place.token
            return self._with_param(paging.page, token)
        if paging.offset is not None:
            return self._with_param(paging.offset, place.before)
        if place.token is None:
            return {}
        if paging.param is not None:
            return self._with_param(paging.param, place.token)
        return {"url": place.token, "params": None}

    def _with_param(self, name: str, value: Value) -> Object:
        params = self._side.inputs.get("params")
        if params is not None and not isinstance(params, Mapping):
            raise BadInput("with `paginate`, `source.params` must be a mapping")
        return {"params": {**(params or {}), name: value}}

    def _rows(self, answer: Outcome) -> list[Row]:
        data = answer.result.get("data")
        form = self._format
        kind = str(answer.result.get("headers", {}).get("content-type", "")).lower()
        if form is None and isinstance(data, str):
            form = next((one for word, one in _BY_TYPE.items() if word in kind), RowFormat.JSON)
        if isinstance(data, str) and form is not None:
            return rows_of_text(data, form, self._path)
        return rows_in(data, self._path)

    def _next(self, place: PagePosition, answer: Outcome, count: int) -> PagePosition | None:
        """The page after this one; None when this was the last."""
        paging = self._paging
        before = place.before + count
        if paging.page is not None:
            number = paging.first if place.token is None else int(place.token)
            return PagePosition(number + 1, 0, before) if count else None
        if paging.offset is not None:
            return PagePosition(None, 0, before) if count else None
        if paging.next is None:
            return None
        token = self._token(answer, paging.next)
        if token is None or token == "" or token is False:
            return None
        following = token if paging.param else self._address(str(token))
        if following == (place.token if paging.param else place.token or self._url):
            raise BadInput("the source names the same next page again and again")
        return PagePosition(following, 0, before)

    def _token(self, answer: Outcome, path: str) -> Value:
        if path != _LINK:
            return field_at(answer.result.get("data"), path)
        return next_link(str(answer.result.get("headers", {}).get("link", "")))

    def _address(self, token: str) -> str:
        """The address of a next page, on the same host: the credential goes there too."""
        address = urljoin(self._url, token)
        old, new = urlsplit(self._url), urlsplit(address)
        if (old.scheme, old.netloc.rpartition("@")[2]) != (new.scheme, new.netloc):
            raise BadInput("the next page is on another host than `source.url`, so it is not read")
        return address


def next_link(header: str) -> str | None:
    """The address that a header `Link` gives for the next page."""
    for address, params in _LINKS.findall(header):
        for name, quoted, bare in _LINK_PARAM.findall(params):
            if name.lower() == "rel" and "next" in (quoted or bare).lower().split():
                return str(address)
    return None


class HttpTarget:
    """A server that gets each batch as one request, with an idempotency key of the batch.

    How far it is, stands in the folder of the run. Where that is lost, batches are sent again with
    the keys they had.
    """

    def __init__(self, plan: TransferPlan, tool: HttpTool) -> None:
        self._plan = plan
        self._tool = tool
        self._rows_key = plan.target.text("rows_key")
        name = hashlib.sha256(plan.key.encode()).hexdigest()[:32]
        self._file: Path = plan.target.call.scratch / f"transfer-{name}.json"

    async def begin(self) -> Copied:
        make_scratch(self._file.parent)
        try:
            return msgspec.convert(json.loads(self._file.read_bytes()), Copied)
        except FileNotFoundError:
            return Copied()

    async def write(self, rows: list[Row], _before: Copied, after: Copied) -> None:
        if rows:
            await self._send([json_value(row) for row in rows], after.batches)
        write_whole(self._file, msgspec.json.encode(after))

    async def _send(self, rows: list[Value], number: int) -> None:
        side = self._plan.target
        inputs = {key: value for key, value in side.inputs.items() if key not in _OWN}
        inputs["json"] = {self._rows_key: rows} if self._rows_key else rows
        inputs.setdefault("method", "POST")
        inputs["idempotency_key"] = f"{self._plan.key}/{number}"
        outcome = await self._tool.call(replace(side.call, kind="http", inputs=inputs))
        if outcome.status is OutcomeStatus.ERROR:
            raise SideFailed(outcome)

    async def close(self) -> None:
        """The connections belong to the tool."""


# Inputs of a side that are no inputs of a request.
_OWN = frozenset({"data_path", "format", "paginate", "rows_key", "mapping"})
_BY_TYPE = {"csv": RowFormat.CSV, "ndjson": RowFormat.JSON_LINES, "jsonl": RowFormat.JSON_LINES}


def _format_of(said: str | None) -> RowFormat | None:
    if said is None:
        return None
    form = FORMAT_WORDS.get(said.strip().lower())
    if form is None:
        raise BadInput(f"`source.format` must be {', '.join(RowFormat)}; it is {said!r}")
    return form


def _paging_of(said: Value) -> Paging:
    if said is None:
        return Paging()
    if not isinstance(said, Mapping) or not said.keys() <= _PAGING_KEYS:
        raise BadInput(f"`source.paginate` takes {', '.join(sorted(_PAGING_KEYS))}")
    ways = [way for way in ("next", "page", "offset") if said.get(way) is not None]
    if len(ways) != 1:
        raise BadInput("`source.paginate` needs one of `next`, `page` and `offset`")
    try:
        return msgspec.convert(dict(said), Paging)
    except msgspec.ValidationError as error:
        raise BadInput(f"`source.paginate` cannot be used: {error}") from None
