"""What every page has: a way to the others, light and dark, no barriers, nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.web.scene import Scene
from tests.web.sight import Sight

Look = Callable[..., Sight]
ADDRESSES = {
    "runs": "/",
    "failures": "/failures",
    "people": "/people",
    "programs": "/programs",
    "program": "/programs/orders",
    "workers": "/workers",
}
PHONE = {"width": 390, "height": 844}


def settled(sight: Sight) -> Sight:
    """Once what the page asked for is there."""
    sight.page.locator("main h1").first.wait_for()
    expect(sight.page.get_by_text(re.compile("^Loading "))).to_have_count(0)
    return sight


def address(scene: Scene, name: str) -> str:
    if name == "run":
        return f"{scene.url}/runs/{scene.one('retrying')}"
    return scene.url + ADDRESSES[name]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [*ADDRESSES, "run"])
def test_a_page_has_no_barriers(look: Look, scene: Scene, name: str, scheme: str) -> None:
    sight = settled(look(address(scene, name), scheme=scheme))
    sight.picture(f"{name}-{scheme}")
    assert sight.barriers() == []


@pytest.mark.parametrize("name", [*ADDRESSES, "run"])
def test_a_page_fits_a_phone(look: Look, scene: Scene, name: str) -> None:
    sight = settled(look(address(scene, name), **PHONE))
    sight.picture(f"{name}-phone")
    assert sight.overflow() == 0
    assert sight.barriers() == []
