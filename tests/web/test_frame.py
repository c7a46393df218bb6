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


@pytest.mark.parametrize("width", [390, 360])
@pytest.mark.parametrize("name", ["runs", "workers"])
def test_all_areas_and_the_colours_are_in_sight_on_a_phone(
    look: Look, scene: Scene, name: str, width: int
) -> None:
    page = settled(look(address(scene, name), width=width, height=800)).page
    nav = page.get_by_role("navigation", name="Pages")
    assert nav.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    expect(nav.get_by_role("link", name="Workers")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Use dark colours").click()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")


@pytest.mark.daily
def test_each_page_says_in_its_title_where_one_is(look: Look, scene: Scene) -> None:
    page = look(scene.url).page
    expect(page).to_have_title("Runs · Anew")
    for area in ["Failures", "People", "Programs", "Workers"]:
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=area).click()
        expect(page).to_have_title(f"{area} · Anew")
    page.goto(f"{scene.url}/programs/orders")
    expect(page).to_have_title("orders · Anew")


def test_an_address_of_nothing_is_told_by_the_page(look: Look, scene: Scene) -> None:
    sight = look("about:blank")
    sight.expected.append("status of 404")
    answer = sight.page.goto(f"{scene.url}/nowhere?at=all")
    assert answer is not None
    assert answer.status == 404
    expect(sight.page.locator("main")).to_contain_text("There is no page at /nowhere.")
    expect(sight.page).to_have_title("No such page · Anew")


def test_rows_do_not_overlap_when_a_phone_is_turned(look: Look, scene: Scene) -> None:
    page = settled(look(scene.url, width=844, height=390)).page
    rows = page.get_by_role("table", name="Runs").locator(".grid-row")
    expect(rows.nth(2)).to_be_attached()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".runs-card").nth(2)).to_be_attached()
    expect(rows.nth(1)).to_have_css("transform", "matrix(1, 0, 0, 1, 0, 84)")
    heights = rows.evaluate_all("all => all.slice(0, 2).map(one => one.offsetHeight)")
    assert heights == [84, 84]
