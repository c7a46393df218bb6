"""The page offers the words that the engine has."""

from __future__ import annotations

import re
from pathlib import Path

from anew.engine.outcome import RETRYABLE

WORDS = Path(__file__).resolve().parents[3] / "web" / "src" / "words"


def test_the_page_offers_every_kind_of_error_that_the_engine_has() -> None:
    text = (WORDS / "kinds.ts").read_text(encoding="utf-8")
    assert re.findall(r'^  "(\w+)",$', text, re.MULTILINE) == list(RETRYABLE)
