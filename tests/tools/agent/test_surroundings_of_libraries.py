"""What the makers' libraries find in our environment stays where the environment says."""

from __future__ import annotations

import pytest

from anew.tools.agent import AgentTool
from anew.values import Object
from tests.tools.agent.agent_calls import Heard, a_call, a_model_server, bounded
from tests.tools.agent.test_wire import AUTH, FORMATS, KEY, address, ok, reply

OPERATOR = "of-the-operator"
WITH_AND_WITHOUT_KEY = pytest.mark.parametrize(
    "auth", [{}, {"auth": AUTH}], ids=["no key", "a credential"]
)


def heard_at_an_address_of_the_document(name: str, inputs: Object) -> Heard:
    async def session() -> list[Heard]:
        async with a_model_server(ok(reply(name, "x"))) as server:
            tool = AgentTool()
            given = {"backend": name, "model": "m", "base_url": address(name, server), **inputs}
            await tool.call(a_call(**given))
            await tool.close()
            return server.heard

    (heard,) = bounded(session())
    return heard


@pytest.mark.parametrize("name", FORMATS)
@WITH_AND_WITHOUT_KEY
def test_headers_of_the_environment_are_not_sent_where_a_document_says(
    name: str, auth: Object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{name.upper()}_CUSTOM_HEADERS", f"X-Gateway-Token: {OPERATOR}")
    monkeypatch.setenv("OPENAI_ORG_ID", f"org-{OPERATOR}")
    monkeypatch.setenv("OPENAI_PROJECT_ID", f"project-{OPERATOR}")
    heard = heard_at_an_address_of_the_document(name, auth)
    assert OPERATOR not in str(heard.headers)


@pytest.mark.parametrize("name", FORMATS)
@WITH_AND_WITHOUT_KEY
@pytest.mark.parametrize(
    "header", ["authorization", "X-API-Key", "OpenAI-Project", "anthropic-workspace-id"]
)
def test_no_name_of_a_header_makes_an_exception(
    name: str, auth: Object, header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = f"no header\n{header} : Bearer {OPERATOR}\n{header.upper()}: {OPERATOR}"
    monkeypatch.setenv(f"{name.upper()}_CUSTOM_HEADERS", lines)
    heard = heard_at_an_address_of_the_document(name, auth)
    assert OPERATOR not in str(heard.headers)
    assert (KEY in str(heard.headers)) == bool(auth)


@pytest.mark.parametrize("name", FORMATS)
def test_headers_of_the_environment_are_sent_where_the_environment_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{name.upper()}_CUSTOM_HEADERS", f"X-Gateway-Token: {OPERATOR}")
    monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)

    async def session() -> list[Heard]:
        async with a_model_server(ok(reply(name, "x"))) as server:
            monkeypatch.setenv(f"{name.upper()}_BASE_URL", address(name, server))
            tool = AgentTool()
            await tool.call(a_call(backend=name, model="m"))
            await tool.close()
            return server.heard

    (heard,) = bounded(session())
    assert heard.headers["x-gateway-token"] == OPERATOR
