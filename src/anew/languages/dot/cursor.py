"""A place among the tokens of a document, and what was found wrong up to there.

Knows how tokens are called in messages. Knows no statements.
"""

from __future__ import annotations

from typing import NoReturn

from anew.languages.dot.attributes import shown
from anew.languages.dot.dot_rules import parse_finding
from anew.languages.dot.source import SourceText, unescaped
from anew.languages.dot.tokens import BAD, END, HTML, TEXT, DotToken
from anew.program.findings import Finding
from anew.program.span import Span

# Nobody reads more; a text that is no DOT at all would have one for every line.
FINDINGS_MAX = 100


class ReadingStopped(Exception):
    """Reading stopped; the findings say why."""


class Cursor:
    """`is_cut`: the tokens end before the document does, for a reason that is told elsewhere."""

    def __init__(self, source: SourceText, tokens: list[DotToken], *, is_cut: bool) -> None:
        self.source = source
        self.tokens = tokens
        self.is_cut = is_cut
        self.at = 0
        self.here = tokens[0]
        self.kind = self.here.kind
        self.findings: list[Finding] = []

    def next_kind(self) -> str:
        return self.tokens[self.at + 1].kind

    def take(self) -> DotToken:
        """The token here; the cursor goes on to the next, and stays at the end."""
        token = self.here
        if self.kind != END:
            self.at += 1
            self.here = self.tokens[self.at]
            self.kind = self.here.kind
        return token

    def is_first_of_line(self) -> bool:
        if self.at == 0:
            return True
        between = self.source.text[self.tokens[self.at - 1].end : self.here.begin]
        return "\n" in between or "\r" in between

    def text_is(self, *signs: str) -> bool:
        """Whether characters stand here that are no DOT, and begin with one of the signs."""
        return self.here.kind == BAD and self.here.text.startswith(signs)

    def touches_previous(self) -> bool:
        return self.at > 0 and self.tokens[self.at - 1].end == self.here.begin

    def span(self, token: DotToken) -> Span:
        return self.source.span(token.begin)

    def report(self, rule: str, token: DotToken, message: str, remedy: str) -> None:
        if self.is_cut and self.kind == END:
            return  # a consequence of the cut
        if len(self.findings) >= FINDINGS_MAX:
            more = f"there are more than {FINDINGS_MAX} problems; the others are not listed"
            place = self.span(token)
            self.findings.append(
                parse_finding("dot.syntax", place, more, "Correct these first, then check again.")
            )
            raise ReadingStopped
        self.findings.append(parse_finding(rule, self.span(token), message, remedy))

    def refuse(self, rule: str, token: DotToken, message: str, remedy: str) -> NoReturn:
        self.report(rule, token, message, remedy)
        raise ReadingStopped


def value_text(token: DotToken) -> str:
    """What a token says once its quotes and escapes are gone."""
    return unescaped(token.text) if token.kind == TEXT else token.text


def named(token: DotToken) -> str:
    """A token as messages call it."""
    if token.kind == END:
        return "the end of the document"
    if token.kind == TEXT:
        return f"the text {shown(value_text(token))}"
    if token.kind == HTML:
        return "HTML-like text"
    if token.kind == BAD and not token.text.isprintable():
        return f"the character U+{ord(token.text[0]):04X}"
    return f"`{token.text[:40]}`"
