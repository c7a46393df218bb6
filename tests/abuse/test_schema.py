"""Every operation of the API, asked what its description allows and what it forbids: none fails.

One case is one operation, so the cases are as many as the description has operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, checks

from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.openapi import description
from tests.surfaces.api.processes import PATIENCE_SECONDS, ended, server
from tests.surfaces.api.served import CHAIN, NOOP, TOKEN

# Of each kind. More of them are asked by HYPOTHESIS_PROFILE=thorough.
EXAMPLES_EACH = 4 if settings.default is settings.get_profile("default") else 60
# A stream without an end: what it says at first is all that is waited for.
ENDLESS = ("/api/v1/runs/changes",)
SCHEMA = schemathesis.openapi.from_dict(description(ENDPOINTS))
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, requests.Session]]:
    """The address of a server, a run of it that has ended, and a connection."""
    folder = tmp_path_factory.mktemp("schema")
    with ExitStack() as open:
        served = open.enter_context(server(folder, ANEW_TOKEN=TOKEN, HOME=str(folder)))
        client = open.enter_context(served.client())
        assert client.post("/api/v1/programs", json={"document": NOOP}).status_code == 201
        run = client.post("/api/v1/runs", json={"document": CHAIN}).json()["run"]
        ended(client, run)
        yield served.url, run, open.enter_context(requests.Session())


def test_every_operation_is_asked() -> None:
    paths = description(ENDPOINTS)["paths"]
    described = {f"{method.upper()} {path}" for path, row in paths.items() for method in row}
    assert {operation.label for operation in OPERATIONS} == described


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_an_operation_never_fails(
    site: tuple[str, str, requests.Session],
    operation: Any,
    record_property: Callable[[str, object], None],
) -> None:
    url, run, session = site
    asked = 0

    def ask(case: Any, is_known: bool) -> None:
        nonlocal asked
        for name in ("run", "id") if is_known else ():
            if name in case.path_parameters:
                case.path_parameters[name] = run
        asked += 1
        stream = operation.path in ENDLESS
        answer = session.request(
            **case.as_transport_kwargs(base_url=url, headers=HEADERS),
            timeout=PATIENCE_SECONDS,
            stream=stream,
        )
        with answer:
            assert answer.status_code < 500, (answer.status_code, answer.text[:2000])
            if not stream:
                case.validate_response(answer, checks=[checks.status_code_conformance])

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        with suppress(Unsatisfiable):  # nothing can be wrong in a request that takes nothing
            _bounded(given(operation.as_strategy(generation_mode=mode), st.booleans())(ask))()
    record_property("requests", asked)
    assert asked


def _bounded(test: Callable[[], None]) -> Callable[[], None]:
    return settings(
        max_examples=EXAMPLES_EACH,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(test)
