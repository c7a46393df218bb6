"""Whatever the description of the API allows or forbids, the server answers as it says there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
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
from tests.suites import mostly_long
from tests.surfaces.api.processes import PATIENCE_SECONDS, ended, server
from tests.surfaces.api.served import CHAIN, NOOP, TOKEN

# A few of each, so that all of them together take well under half a minute.
EXAMPLES_EACH = 4
# Other names for the paths below /runs, served by the same functions.
SAME_AS_RUNS = ("/pipeline/", "/pipelines/{id}/")
# A stream that ends with the server: tests/surfaces/api/test_changes.py has it.
ENDLESS = ("/api/v1/runs/changes",)
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@contextmanager
def running(folder: Path) -> Iterator[tuple[str, str]]:
    """A server in a process of its own; its address, and a run of it that has ended."""
    with server(folder) as site, site.client() as client:
        assert client.post("/api/v1/programs", json={"document": NOOP}).status_code == 201
        run = client.post("/api/v1/runs", json={"document": CHAIN}).json()["run"]
        ended(client, run)
        yield site.url, run


@contextmanager
def collecting(failures: list[str], label: str) -> Iterator[None]:
    """All that is wrong in one look, not only the first."""
    try:
        yield
    except Unsatisfiable:
        pass  # nothing can be wrong in a request that takes nothing
    except (Exception, BaseExceptionGroup) as error:
        failures.append(f"{label}: {''.join(format_exception(error))}")


@pytest.mark.parametrize("mode", mostly_long([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
def test_the_server_keeps_to_its_own_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: GenerationMode
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    schema = schemathesis.openapi.from_dict(description(ENDPOINTS))
    failures: list[str] = []
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with running(tmp_path) as (url, run), requests.Session() as session:
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path.startswith((*SAME_AS_RUNS, *ENDLESS)):
                continue

            @settings(
                max_examples=EXAMPLES_EACH,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode), is_known=st.booleans())
            def ask(case: Any, is_known: bool) -> None:
                for name in ("run", "id") if is_known else ():
                    if name in case.path_parameters:
                        case.path_parameters[name] = run
                answer = case.call(url, session, headers, timeout=PATIENCE_SECONDS)
                case.validate_response(answer, checks=CHECKS)

            with collecting(failures, operation.label):
                ask()
    assert not failures, "\n".join(failures)
