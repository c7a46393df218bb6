"""Read a model stylesheet: rules of the form `selector, selector { property: value; }`.

Decides which rule a property comes from by the specificity of selectors. Knows the properties of
both dialects; does not know where the text came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from anew.languages.dot.attributes import shown
from anew.languages.dot.dot_rules import parse_finding
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.source import unescaped
from anew.program.findings import Finding, did_you_mean, listed
from anew.program.span import Span

# The name a node has for each property; nodes are asked for these and for the aliases of them.
SPEC_PROPERTIES = {word: word for word in ("llm_model", "llm_provider", "reasoning_effort")}
DOCS_PROPERTIES = {
    **SPEC_PROPERTIES,
    "model": "llm_model",
    "provider": "llm_provider",
    "effort": "reasoning_effort",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
}
PROPERTIES = {DotDialect.SPEC: SPEC_PROPERTIES, DotDialect.DOCS: DOCS_PROPERTIES}

# Of errors, which end the reading, and of warnings, which do not.
STYLE_FINDINGS_MAX = 50

_BLANK = re.compile(r"(?:\s++|(?P<comment>/\*).*?(?:\*/|(?P<open>\Z))|//[^\n\r]*+)*", re.DOTALL)
_SELECTORS = re.compile(r"[^{};]*+")
_SELECTOR = re.compile(r"(?:\*|[.#]?[\w-]+)\Z")
_NAME = re.compile(r"[\w-]++")
_TEXT = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"' + r"|'([^'\n]*+)'", re.DOTALL)
_BARE = re.compile(r"[^;{}\n\r\"']*+")
_RULE_END = re.compile(r"[;}]")
_RULE = "A rule is `selector { property: value; }`."

Locate = Callable[[int], Span]


class Declaration(Struct, frozen=True):
    """One `property: value`; of two that are equally specific, the greater `order` counts."""

    name: str
    text: str
    order: int
    span: Span
    key_span: Span


Styles = dict[str, Declaration]


class Stylesheet(Struct):
    """What each selector says; one selector's later declarations have replaced its earlier."""

    everything: Styles = field(default_factory=dict)
    shapes: dict[str, Styles] = field(default_factory=dict)
    classes: dict[str, Styles] = field(default_factory=dict)
    ids: dict[str, Styles] = field(default_factory=dict)

    def common(self, shape: str, classes: Sequence[str]) -> Styles:
        """What holds for a node of this shape and these classes, whatever its id."""
        found = {**self.everything, **self.shapes.get(shape, {})}
        by_class: Styles = {}
        for name in classes:
            for key, one in self.classes.get(name, {}).items():
                if key not in by_class or by_class[key].order < one.order:
                    by_class[key] = one
        return {**found, **by_class}


def parse_stylesheet(
    text: str, locate: Locate, *, dialect: DotDialect
) -> tuple[Stylesheet, list[Finding]]:
    """The rules and what is wrong; `locate` tells where a character of the text stands."""
    reader = _Reader(text, locate, dialect)
    while reader.has_more():
        reader.rule()
    return reader.sheet, [*reader.errors, *reader.warnings]


class _Reader:
    def __init__(self, text: str, locate: Locate, dialect: DotDialect) -> None:
        self.text = text
        self.locate = locate
        self.dialect = dialect
        self.properties = PROPERTIES[dialect]
        self.sheet = Stylesheet()
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self.at = 0
        self.order = 0

    def skip_blank(self) -> int:
        blank = _BLANK.match(self.text, self.at)
        assert blank is not None  # it may be empty
        self.at = blank.end()
        if blank["open"] is not None:
            begin = blank.start("comment")
            self._report(begin, "the comment that starts here has no end", "Close it with `*/`.")
        return self.at

    def has_more(self) -> bool:
        """Whether there is more behind the blanks here, and reading it tells anything."""
        return self.skip_blank() < len(self.text) and not self._is_full()

    def _is_full(self) -> bool:
        return len(self.errors) >= STYLE_FINDINGS_MAX

    def sign(self) -> str:
        return self.text[self.at : self.at + 1]

    # --- rules -----------------------------------------------------------------------------------

    def rule(self) -> None:
        begin = self.at
        written = self._match(_SELECTORS)
        if self.sign() != "{":
            found = shown(self.sign()) if self.sign() else "the end"
            self._report(self.at, f"found {found} where `{{` is expected after a selector", _RULE)
            self.at += 1
            return
        opened = self.at
        self.at += 1
        places = self._selectors(written, begin)
        # Gathered before they are spread: selectors times declarations may be very many.
        styles: Styles = {}
        while self.has_more() and self.sign() != "}":
            if self.sign() == ";":
                self.at += 1
            elif not self._declaration(styles):
                self._skip_declaration()
        for place in places:
            place.update(styles)
        if self.sign() != "}":
            self._report(opened, "the rule that starts here is not closed", "Close it with `}`.")
        self.at += 1

    def _selectors(self, written: str, begin: int) -> list[Styles]:
        """Where the rule's declarations go: one place for each selector that makes sense."""
        places = []
        for part in re.finditer(r"[^,]+|\A\Z", written):
            name = part.group().strip()
            at = begin + part.start() + len(part.group()) - len(part.group().lstrip())
            place = None if self._is_full() else self._styles_of(name, at)
            if place is not None:
                places.append(place)
        return places

    def _styles_of(self, name: str, at: int) -> Styles | None:
        sheet = self.sheet
        if not _SELECTOR.match(name):
            what = f"the selector {shown(name)} is not one" if name else "a selector is missing"
            self._report(at, what, "Select by `*`, `.class` or `#id`.")
            return None
        if name == "*":
            return sheet.everything
        if name[0] == ".":
            return sheet.classes.setdefault(name[1:], {})
        if name[0] == "#":
            return sheet.ids.setdefault(name[1:], {})
        if self.dialect is DotDialect.SPEC:
            return sheet.shapes.setdefault(name, {})
        message = f"the selector {shown(name)} selects a shape, which the docs dialect cannot"
        self._report(at, message, f"Write `.{name}` for a class or `#{name}` for a node.")
        return None

    # --- declarations ----------------------------------------------------------------------------

    def _declaration(self, styles: Styles) -> bool:
        begin = self.at
        name = self._match(_NAME)
        if not name:
            message = f"found {shown(self.sign())} where a property is expected"
            self._report(begin, message, "Write `property: value;`.")
            return False
        self.skip_blank()
        if self.sign() != ":":
            found = shown(self.sign()) if self.sign() else "the end"
            message = f"found {found} after {name!r} where `:` is expected"
            self._report(self.at, message, f"Write `{name}: value;`.")
            return False
        self.at += 1
        self.skip_blank()
        return self._value(name, begin, styles)

    def _value(self, name: str, begin: int, styles: Styles) -> bool:
        at = self.at
        quoted = _TEXT.match(self.text, at)
        value = self._quoted(quoted) if quoted else self._match(_BARE).strip()
        if not quoted and not value:
            self._report(at, f"the property {name!r} has no value", f"Write `{name}: value;`.")
            return False
        self.skip_blank()
        if self.sign() not in (";", "}", ""):
            message = f"found {shown(self.sign())} after the value of {name!r}"
            self._report(self.at, message, "Separate declarations with `;`.")
            return False
        self._keep(name, value, begin=begin, at=at, styles=styles)
        return True

    def _quoted(self, found: re.Match[str]) -> str:
        self.at = found.end()
        double, single = found.groups()
        return unescaped(double) if double is not None else str(single)

    def _keep(self, name: str, value: str, *, begin: int, at: int, styles: Styles) -> None:
        known = self.properties.get(name)
        if known is None:
            self._report_property(name, begin)
            return
        self.order += 1
        places = self.locate(at), self.locate(begin)
        styles[known] = Declaration(known, value, self.order, *places)

    def _skip_declaration(self) -> None:
        found = _RULE_END.search(self.text, self.at)
        self.at = len(self.text) if found is None else found.start()

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def _report(self, at: int, message: str, remedy: str) -> None:
        if not self._is_full():
            place = self.locate(at)
            self.errors.append(parse_finding("stylesheet_syntax", place, message, remedy))

    def _report_property(self, name: str, at: int) -> None:
        if len(self.warnings) >= STYLE_FINDINGS_MAX:
            return
        message = f"the {self.dialect} dialect has no style property {shown(name)}"
        remedy = did_you_mean(name, self.properties) or listed(self.properties)
        place = self.locate(at)
        self.warnings.append(parse_finding("dot.stylesheet-property", place, message, remedy))
