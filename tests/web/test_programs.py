"""The pages of programs: register, look into, compare, start, and try another policy."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.scene import Scene
from tests.web.sight import Sight

Look = Callable[..., Sight]
HOSTILE = "<img src=x onerror=alert(1)>"
PHONE = {"width": 390, "height": 844}
TABS = ["document", "versions", "bounds", "coverage", "start", "try"]


def waits(name: str, *, seconds: int) -> str:
    """A program whose runs stay open."""
    return (
        f"metadata: {{name: {name}}}\n"
        "workflow:\n"
        "  - step: nap\n"
        f"    tool: [{{rest: {{kind: sleep, seconds: {seconds}}}}}]\n"
        "    next: {spec: {mode: exclusive}, arcs: [{step: after}]}\n"
        "  - step: after\n"
        "    tool: [{told: {kind: noop}}]\n"
    )


def register(scene: Scene, document: str, file: str = "own.yaml") -> None:
    scene.post("/api/v1/programs", {"document": document, "file": file})


def pointed(page: Page) -> Locator:
    return page.locator(".pointed .source-number")


def test_a_document_is_registered_and_an_open_run_moves_to_it(look: Look, scene: Scene) -> None:
    register(scene, waits("moving", seconds=900))
    old = str(scene.post("/api/v1/runs", {"program": "moving"})["run"])
    scene.reach(old, "parked")
    sight = look(f"{scene.url}/programs")
    page = sight.page
    page.get_by_role("button", name="Register a document").click()
    text = page.get_by_role("textbox", name="Document")
    text.fill(waits("moving", seconds=901).replace("noop", "nop"))
    expect(page.get_by_text("tool kind 'nop' is unknown")).to_be_visible()
    expect(page.get_by_role("button", name="Register", exact=True)).to_be_disabled()
    page.get_by_role("button", name="line 7").click()
    expect(text).to_be_focused()
    text.fill(waits("moving", seconds=901))
    page.get_by_role("button", name="Register moving").click()
    expect(page.get_by_text("moving is registered as version 2.")).to_be_visible()
    sight.picture("programs-register")
    assert sight.barriers() == []
    page.get_by_role("button", name="Move to version 2 …").click()
    page.get_by_role("dialog").get_by_role("button", name="Move it").click()
    new = page.get_by_text("continues as").get_by_role("link").inner_text()
    scene.reach(old, "cancelled")
    assert scene.get(f"/api/v1/runs/{new}/picture")["version"] == 2


def test_a_file_is_picked_and_hostile_words_in_it_are_text(look: Look, scene: Scene) -> None:
    sight = look(f"{scene.url}/programs?register=yes")
    document = f'digraph picked {{ a [shape=Mdiamond label="{HOSTILE}"] a -> nowhere_x }}'
    page = sight.page
    file = {"name": f"{HOSTILE}.dot", "mimeType": "text/plain", "buffer": document.encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_role("textbox", name="Document")).to_have_value(document)
    expect(page.get_by_role("list", name="Findings")).to_be_visible()
    page.locator("summary", has_text="CLI and API").click()
    expect(page.get_by_label("command line")).to_contain_text(HOSTILE)
    assert page.locator("main img").count() == 0


def test_the_list_is_found_in_and_walked_by_keys(look: Look, scene: Scene) -> None:
    page = look(f"{scene.url}/programs").page
    expect(page.get_by_role("link", name="8 failed")).to_have_attribute(
        "href", "/?state=failed&program=invoices"
    )
    page.keyboard.press("/")
    page.keyboard.type("r")
    expect(page).to_have_url(f"{scene.url}/programs?text=r")
    rows = page.get_by_role("table", name="Programs").get_by_role("row")
    rows.nth(1).focus()
    page.keyboard.press("j")
    second = rows.nth(2)
    expect(second).to_be_focused()
    name = second.get_by_role("link").first.inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def test_steps_and_lines_point_at_each_other(look: Look, scene: Scene) -> None:
    sight = look(f"{scene.url}/programs/orders")
    page = sight.page
    page.locator("[data-hit=set_aside]").click()
    expect(page).to_have_url(f"{scene.url}/programs/orders?step=set_aside")
    expect(pointed(page)).to_have_text(["42", "43", "44"])
    page.get_by_role("button", name="line 39").click()
    expect(page).to_have_url(f"{scene.url}/programs/orders?line=39&step=store")
    expect(page.locator("[data-hit=store]")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("region", name="orders.yaml").focus()
    page.keyboard.press("j")
    expect(pointed(page)).to_have_text(["40"])
    sight.picture("program-document")
    page.reload()
    expect(pointed(page)).to_have_text(["40"])


def test_versions_are_compared(look: Look, scene: Scene) -> None:
    for seconds in (1, 2, 3):
        register(scene, waits("compared", seconds=seconds))
    sight = look(f"{scene.url}/programs/compared?tab=versions")
    page = sight.page
    page.get_by_label("compare from version 1").check()
    diff = page.get_by_role("region", name="From version 1 to version 3: own.yaml")
    expect(diff).to_contain_text("taken out:     tool: [{rest: {kind: sleep, seconds: 1}}]")
    expect(diff).to_contain_text("put in:     tool: [{rest: {kind: sleep, seconds: 3}}]")
    sight.picture("program-versions")
    page.get_by_role("combobox", name="Version").select_option("2")
    expect(page.get_by_text("This is not the newest version.")).to_be_visible()
    page.get_by_role("tab", name="Document").click()
    expect(page.get_by_role("region", name="own.yaml")).to_contain_text("seconds: 2")


def test_the_worst_case_leads_to_its_lines(look: Look, scene: Scene) -> None:
    page = look(f"{scene.url}/programs/release?tab=bounds").page
    open_parts = page.locator("section", has_text="What the document leaves open")
    expect(open_parts).to_contain_text("approve waits for a person without a timeout")
    expect(page.get_by_role("table", name="Each task")).to_contain_text("∞ (≤ 300)")
    open_parts.get_by_role("link", name="line 11").click()
    expect(pointed(page)).to_have_text(["11"])
    expect(page.get_by_text("warning: retries multiply")).to_be_visible()


def test_coverage_tells_what_never_happened_first(look: Look, scene: Scene) -> None:
    page = look(f"{scene.url}/programs/invoices?tab=coverage").page
    expect(page.get_by_text("1 decision has never been made.")).to_be_visible()
    first = page.get_by_role("table", name="What decides").get_by_role("row").nth(1)
    expect(first).to_contain_text("rule 3 of post never matched")
    first.get_by_role("link", name="line 32").click()
    expect(page.locator(".source-line.pointed")).to_contain_text("never")


@pytest.mark.daily
def test_a_run_is_started_from_the_form(look: Look, scene: Scene) -> None:
    document = waits("started", seconds=0).replace(
        "workflow:",
        f'workload: {{place: "{HOSTILE}", count: 3, is_dry: false, rows: [1]}}\nworkflow:',
    )
    register(scene, document)
    sight = look(f"{scene.url}/programs/started?tab=start")
    page = sight.page
    expect(page.get_by_label("place")).to_have_value(HOSTILE)
    page.get_by_label("count").fill("many")
    expect(page.get_by_text("This is not a number.")).to_be_visible()
    start = page.get_by_role("button", name="Start the run")
    expect(start).to_be_disabled()
    page.get_by_label("count").fill("4")
    page.get_by_label("is_dry").check()
    page.get_by_label("rows").fill("[1, 2]")
    page.get_by_label("Key").fill("form-1")
    page.get_by_label("Labels").fill("team=finance")
    expect(page.get_by_label("command line")).to_contain_text(
        "anew start started --set count=4 --set is_dry=true"
    )
    sight.picture("program-start")
    start.press("Enter")
    page.wait_for_url(f"{scene.url}/runs/*")
    picture = scene.get(f"/api/v1{page.url.removeprefix(scene.url)}/picture")
    assert picture["workload"] == {"place": HOSTILE, "count": 4, "is_dry": True, "rows": [1, 2]}
    assert (picture["key"], picture["labels"]) == ("form-1", {"team": "finance"})


def test_another_policy_is_tried_on_a_run_and_forked(look: Look, scene: Scene) -> None:
    run = scene.get("/api/v1/runs?program=invoices&label=customer%3Dc1&limit=1")["runs"][0]["run"]
    sight = look(f"{scene.url}/programs/invoices?try={run}")
    page = sight.page
    text = page.get_by_role("textbox", name="invoices.yaml, to be changed")
    document = text.input_value()
    text.fill(document.replace("attempts: 3", "attempts: 1"))
    page.get_by_role("button", name="Try it").click()
    outcome = page.get_by_role("region", name="How it would have gone")
    expect(outcome).to_contain_text("The run would have ended as it did (failed), for certain.")
    expect(outcome.get_by_role("table", name="Each run")).to_contain_text("−2")
    sight.picture("program-try", is_whole=True)
    assert sight.barriers() == []
    outcome.get_by_role("button", name=f"Fork run {run} with this policy").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Start with the latest visit of")).to_have_value("send")
    expect(dialog).to_contain_text("send starts")
    dialog.get_by_role("button", name="Start the new run").click()
    page.wait_for_url(f"{scene.url}/runs/*")
    new = page.url.rpartition("/")[2]
    assert new != run
    scene.reach(new, "failed")
    assert scene.get(f"/api/v1/runs/{new}/document")["document"] != document


def test_the_editor_is_left_by_keyboard(look: Look, scene: Scene) -> None:
    page = look(f"{scene.url}/programs/invoices?tab=try").page
    text = page.get_by_role("textbox", name="to be changed")
    text.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    expect(text).to_be_focused()
    assert text.input_value().startswith("  # Send an invoice")
    page.keyboard.press("Control+z")
    assert text.input_value().startswith("# Send an invoice")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(text).not_to_be_focused()


def test_a_name_with_a_slash_has_its_page(look: Look, scene: Scene) -> None:
    name = "team/nightly report"
    register(scene, waits(f'"{name}"', seconds=1))
    page = look(f"{scene.url}/programs").page
    page.get_by_role("link", name=name).click()
    expect(page).to_have_url(f"{scene.url}/programs/{quote(name, safe='')}")
    page.get_by_role("tab", name="Coverage").click()
    expect(page.get_by_text("No run of version 1 yet")).to_be_visible()


@pytest.mark.parametrize(
    ("scheme", "size", "tabs"),
    [("light", PHONE, TABS), ("dark", {}, ["bounds", "coverage", "try"])],
    ids=["phone", "dark"],
)
def test_every_tab_is_open_to_all_and_fits_its_screen(
    look: Look, scene: Scene, scheme: str, size: dict[str, int], tabs: list[str]
) -> None:
    sight = look(f"{scene.url}/programs/release", scheme=scheme, **size)
    for tab in tabs:
        sight.page.goto(f"{scene.url}/programs/release?tab={tab}")
        sight.page.get_by_role("tabpanel").wait_for()
        expect(sight.page.get_by_text("Loading ")).to_have_count(0)
        sight.picture(f"program-{tab}-{'phone' if size else 'dark'}")
        assert sight.overflow() == 0, tab
        assert sight.barriers() == [], tab
