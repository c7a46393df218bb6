"""What every test of agents shares: the operator has set nothing."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in os.environ if name.startswith(("ANEW_AGENT_", "OPENAI_", "ANTHROPIC_"))
    ]:
        monkeypatch.delenv(name)
