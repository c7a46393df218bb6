"""Whatever a document, a tool or a person writes is text on every page: it makes nothing and breaks nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.web.scene import Scene
from tests.web.serving import a_server
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
IMAGE = '<img src=x onerror="window.hacked=1">'
SCRIPT = "</title></script><script>window.hacked=1</script>"
BACKWARDS = "\u202egnp.exe \u2066<b>evil</b>"
LONG = "x" * 180
MANY = f"{IMAGE} & &lt;i&gt; 👩‍👩‍👧‍👦 javascript:window.hacked=1\nsecond line {BACKWARDS}"
NAME = f"{IMAGE} {BACKWARDS} {LONG}"
STEP = f"<b>{LONG}</b>"
QUESTION = f"{SCRIPT} {MANY}?"
CHOICES = [f"[Y] {IMAGE}", f"[N] {LONG}"]


def document(name: str) -> str:
    """A program of which every word is somebody's trap. JSON is YAML too."""
    retry = {"do": "retry", "attempts": 2, "delay": 0.01}
    rules = [
        {"name": IMAGE, "when": "{{ outcome.status == 'error' }}", "then": retry},
        {"else": {"then": {"do": "continue"}}},
    ]
    fails = "def main(text):\n    print(text)\n    raise ValueError(text)"
    steps = [
        {
            "step": STEP,
            "tool": [{IMAGE: {"kind": "noop", "result": {IMAGE: MANY}}}],
            "next": {"spec": {"mode": "inclusive"}, "arcs": [{"step": SCRIPT}, {"step": IMAGE}]},
        },
        {
            "step": SCRIPT,
            "tool": [{"ask": {"kind": "human", "question": QUESTION, "choices": CHOICES}}],
        },
        {
            "step": IMAGE,
            "tool": [
                {
                    "call": {
                        "kind": "python",
                        "code": fails,
                        "args": {"text": "{{ workload.text }}"},
                        "spec": {"policy": {"rules": rules}},
                    }
                }
            ],
        },
    ]
    head = {"metadata": {"name": name}, "workload": {"text": MANY, IMAGE: LONG}}
    return json.dumps(head | {"workflow": steps}, ensure_ascii=False)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server that knows nothing but traps: one run asks a person, one has failed."""
    with a_server(tmp_path_factory.mktemp("hostile"), "--no-auth") as server:
        yield server.scene


@pytest.fixture(scope="module")
def runs(scene: Scene) -> list[str]:
    scene.post("/api/v1/programs", {"document": document(NAME), "file": f"{IMAGE}.yaml"})
    labels = {"b": BACKWARDS, "image": IMAGE, "long": LONG}
    [asking, failed] = [
        scene.start(document(NAME), key=f"{number} {IMAGE}", labels=labels) for number in range(2)
    ]
    scene.reach(failed, "person")
    scene.post(f"/api/v1/runs/{failed}/answer", {"answer": "Y", "by": IMAGE})
    return [scene.reach(asking, "person"), scene.reach(failed, "failed")]


def addresses(runs: list[str]) -> Iterator[tuple[str, str]]:
    """Every page, and a text that it must show as it was written."""
    program = f"/programs/{quote(NAME, safe='')}"
    yield "/", IMAGE
    yield "/?text=" + quote(IMAGE), IMAGE
    yield "/failures", IMAGE
    yield "/people", SCRIPT
    yield "/programs", IMAGE
    yield "/workers", "Workers"
    for tab in ("document", "versions", "bounds", "coverage", "start", "try"):
        yield f"{program}?tab={tab}", IMAGE
    for run in runs:
        for tab in ("overview", "attempts", "events", "data", "rules", "source", "why"):
            yield f"/runs/{run}?tab={tab}", IMAGE
        yield f"/runs/{run}?step={quote(STEP)}", STEP
        yield f"/runs/{run}?tab=events&event=6", IMAGE
    yield f"/runs/{runs[1]}?tab=test", IMAGE
    yield f"/runs/{quote(IMAGE, safe='')}", IMAGE


def made_by_text(sight: Sight) -> list[str]:
    """Elements that this page never makes by itself, and what a script would have left."""
    found: list[str] = sight.page.evaluate(
        """() => [...document.querySelectorAll("main img, b, i, body script, iframe, [onerror]")]
            .map((one) => one.outerHTML)
            .concat(window.hacked === undefined ? [] : ["a script ran"])"""
    )
    return found


@pytest.mark.daily
def test_every_page_shows_hostile_text_as_text(look: Look, scene: Scene, runs: list[str]) -> None:
    sight = look(f"{scene.url}/workers", **PHONE)
    page = sight.page
    # A run that is not there is refused, and a browser says so.
    sight.expected += ["status of 404", "status of 400"]
    page.on("dialog", lambda dialog: sight.complaints.append(f"a dialog: {dialog.message}"))
    broken = []
    for address, text in addresses(runs):
        # As a link of the page does it.
        page.evaluate(
            """address => {
                history.pushState(null, "", address);
                window.dispatchEvent(new PopStateEvent("popstate"));
            }""",
            address,
        )
        expect(page.locator("main"), address).to_contain_text(text)
        page.wait_for_function("() => !document.body.innerText.includes('Loading ')")
        if (made := made_by_text(sight)) or sight.overflow():
            broken.append((address, made, sight.overflow()))
    assert broken == []


def test_what_boxes_say_is_text_too(look: Look, scene: Scene, runs: list[str]) -> None:
    sight = look(f"{scene.url}/runs/{runs[0]}")
    page = sight.page
    question = page.get_by_role("group", name=f"Question of step {SCRIPT}")
    expect(question).to_contain_text(QUESTION)
    sight.picture("hostile")
    question.get_by_role("button", name=CHOICES[0]).click()
    box = page.get_by_role("dialog")
    expect(box).to_contain_text(QUESTION)
    box.get_by_text("CLI and API").click()
    quoted = "'" + CHOICES[0].replace("'", "'\\''") + "'"
    expect(box.get_by_label("command line", exact=True)).to_contain_text(quoted)
    assert made_by_text(sight) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Retry from …").click()
    expect(box.get_by_role("group", name="What will happen")).to_contain_text(STEP)
    assert made_by_text(sight) == []
    assert sight.overflow() == 0
    assert sight.barriers() == []
