"""The reference of credentials is complete."""

from pathlib import Path

import pytest

from anew.credentials.providers import _SPELLINGS, Provider
from anew.environment import CREDENTIAL_PREFIX, KEY_VARIABLE
from anew.program.names import PUBLIC_CREDENTIAL_FIELDS

PAGE = Path(__file__).parents[2] / "docs/reference/credentials.md"


@pytest.mark.parametrize(
    "word",
    [*sorted(PUBLIC_CREDENTIAL_FIELDS), *Provider, *_SPELLINGS, "name", "auth", "provider", "map"],
)
def test_every_word_is_explained(word):
    assert f"`{word}`" in PAGE.read_text(encoding="utf-8")


def test_the_variables_are_named():
    page = PAGE.read_text(encoding="utf-8")
    assert f"`${KEY_VARIABLE}`" in page
    assert f"`{CREDENTIAL_PREFIX}<NAME>`" in page
