"""What a translation could not say in the other language, as findings."""

from __future__ import annotations

from msgspec import Struct, field

from anew.languages.rules import finding
from anew.program.findings import Finding
from anew.program.span import Span


class Differences(Struct):
    """Gathers what is lost or changed while a document is translated; each is difference once."""

    found: list[Finding] = field(default_factory=list)

    def report(self, place: Span, message: str, remedy: str) -> None:
        difference = finding("migrate.differs", place, message, remedy)
        if difference not in self.found:
            self.found.append(difference)
