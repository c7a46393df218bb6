"""The description of the API is whole and true: each route is in it, and does what it says."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.routing import Route

from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.openapi import description
from tests.surfaces.api.served import Site, play

# Spoken by our own workers and command line only, in msgpack.
CONTROL = "/api/v1/control/"


def test_every_route_is_described(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        paths = (await site.get("/openapi.json"))["paths"]
        described = {(path, method.upper()) for path, row in paths.items() for method in row}
        routes = site.app.routes
        served = {
            (re.sub(r":\w+\}", "}", route.path), method)
            for route in routes
            if isinstance(route, Route) and not route.path.startswith(CONTROL)
            for method in (route.methods or ())
            if method != "HEAD"
        }
        assert served == described

    play(tmp_path, act)


def test_every_operation_has_a_name_of_its_own() -> None:
    paths = description(ENDPOINTS)["paths"]
    names = [row["operationId"] for path in paths.values() for row in path.values()]
    assert len(names) == len(set(names))


def test_every_reference_of_the_description_is_defined() -> None:
    found = description(ENDPOINTS)
    wanted = set(re.findall(r"#/components/schemas/(\w+)", str(found)))
    assert wanted <= set(found["components"]["schemas"])
