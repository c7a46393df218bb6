"""One page in a browser: what a person sees of it, and what must never happen in it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Error, Page, Request

ROOT = Path(__file__).resolve().parent.parent.parent
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 15_000
# What WCAG 2.2 asks for on level AA, and what axe knows to be good besides.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Sight:
    """`check` fails when the page threw, complained, or asked another host for anything."""

    def __init__(self, page: Page, screenshots: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        # A server that is stopped on purpose cannot be reached: a test says so here.
        self.expected: list[str] = []
        self._screenshots = screenshots
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._hear)
        page.on("pageerror", self._break)
        page.on("request", self._watch)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _break(self, error: Error) -> None:
        self.complaints.append(f"error: {error}")

    def _watch(self, request: Request) -> None:
        host = urlsplit(request.url).hostname
        is_own = host in ("127.0.0.1", "localhost") or request.url.startswith(("data:", "blob:"))
        if not is_own:
            self.complaints.append(f"asked another host: {request.url}")

    def check(self) -> None:
        left = [
            said
            for said in self.complaints
            if not any(expected in said for expected in self.expected)
        ]
        assert left == [], left

    def picture(self, name: str, *, is_whole: bool = False) -> Path:
        """Keep what is seen now as a file of the build folder."""
        path = self._screenshots / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path, full_page=is_whole)
        return path

    def barriers(self) -> list[str]:
        """What keeps people out, as axe finds it; empty when nothing does."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate(
            "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", _RULES
        )
        return [
            f"{one['id']} ({one['impact']}): {one['help']} at "
            + "; ".join(
                f"{node['target']} {node.get('failureSummary', '')}" for node in one["nodes"][:3]
            )
            for one in found["violations"]
        ]

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        found = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return int(found)
