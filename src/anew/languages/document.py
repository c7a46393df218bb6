"""Read one YAML document into positioned nodes, strictly and within named limits.

Works on the parser's event stream and never recurses, so depth and alias bombs are refused before
they cost anything. Knows nothing of playbooks: whoever needs YAML with positions uses it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, TypeAlias

import yaml
from msgspec import Struct, field

from anew.languages.limits import document_bytes_max, yaml_aliases_max, yaml_depth_max
from anew.languages.lines import LINE_BREAK, line_starts, span_at
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode
from anew.languages.rules import finding
from anew.languages.scalars import LIST_TAG, MAP_TAG, SCALAR_TAGS, resolve, resolve_tagged
from anew.languages.yaml_words import explain
from anew.program.findings import Finding
from anew.program.span import Span

# What aliases may add to a document beyond what is written in it: a 1 MiB text stays affordable.
ALIASED_NODES_MAX = 100_000

_BYTE_ORDER_MARK = re.compile("\ufeff")
_ALIASES = (yaml.AliasEvent,)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(
    text: str | bytes, file: str, *, bytes_max: int = 0
) -> tuple[Node | None, list[Finding]]:
    """The document's root and every problem. No root: nothing is there or could be read.

    `bytes_max`: what the caller reads may be this large, even where a document may not.
    """
    findings: list[Finding] = []
    decoded = _decode(text, file, findings, most=max(bytes_max, document_bytes_max()))
    if decoded is None:
        return None, findings
    reader = _Reader(decoded, file, findings)
    try:
        return reader.read(), findings
    except _Refused:
        return None, findings
    except yaml.YAMLError as error:
        findings.append(reader.syntax_finding(error))
        return None, findings


def _decode(text: str | bytes, file: str, findings: list[Finding], *, most: int) -> str | None:
    start = Span(file, 1, 1)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > most:
        message = f"the document is larger than {most:,} bytes"
        findings.append(finding("yaml.size", start, message, "Split it, or load data at run time."))
        return None
    try:
        decoded = text if isinstance(text, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _place_of(data[: error.start].decode("utf-8"), file)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        findings.append(finding("yaml.encoding", place, message, "Save the file as UTF-8."))
        return None
    decoded = decoded.removeprefix("\ufeff")
    # Compiling this pattern takes longer than reading a playbook, so the parser's own is used.
    bad = yaml.SafeLoader.NON_PRINTABLE.search(decoded) or _BYTE_ORDER_MARK.search(decoded)
    if bad is None:
        return decoded
    message = f"the character U+{ord(bad.group()):04X} cannot occur in a document"
    remedy = "Remove it, or write it as an escape in double quotes."
    findings.append(
        finding("yaml.encoding", _place_of(decoded[: bad.start()], file), message, remedy)
    )
    return None


def _place_of(before: str, file: str) -> Span:
    lines = LINE_BREAK.split(before)
    return Span(file, len(lines), len(lines[-1]) + 1)


# The parser's events always have marks, which its type stubs do not know.
_Event: TypeAlias = Any


class _Refused(Exception):
    """A limit was passed; its finding has been recorded."""


class _Open(Struct):
    """A collection whose end has not been read. For mappings, `key` is what waits for a value."""

    span: Span
    begin: int
    is_flow: bool
    anchor: str | None
    entries: dict[str, Entry] | None
    items: list[Item] = field(default_factory=list)
    key: ScalarNode | None = None
    skips_value: bool = False  # the key was refused, so its value is read and dropped
    is_merging: bool = False  # the value that comes next belongs to a merge key
    merged: dict[str, Entry] | None = None
    is_key: bool = False
    dash_column: int = 0
    nodes: int = 1
    aliases: int = 0
    height: int = 1


class _Weight(Struct, frozen=True):
    """What one more alias to a node would cost when everything in it is written out."""

    nodes: int
    aliases: int
    height: int


_LEAF = _Weight(1, 0, 1)


class _Reader:
    def __init__(self, text: str, file: str, findings: list[Finding]) -> None:
        self.text = text
        self.file = file
        self.findings = findings
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Node, _Weight]] = {}
        self.root: Node | None = None
        self.aliases = 0
        self.aliased_nodes = 0
        self.depth_max = yaml_depth_max()
        self.aliases_max = yaml_aliases_max()

    # --- the event loop --------------------------------------------------------------------------

    def read(self) -> Node | None:
        loader = _LOADER(self.text)
        documents = 0
        takers = {
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.MappingStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceStartEvent: self._open,
            yaml.SequenceEndEvent: self._close,
        }
        while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(
                        "yaml.several", event, "a second document starts here", _ONE_DOCUMENT
                    )
            elif (take := takers.get(type(event))) is not None:
                take(event)
        root = self.root
        is_empty = isinstance(root, ScalarNode) and not root.text and not root.style
        return None if is_empty else root

    def _scalar(self, event: _Event) -> None:
        text, tag = event.value, event.tag
        value = text if event.style or tag else resolve(text)
        if tag not in (None, "!"):
            value = self._tagged(event)
        style = event.style or ""
        begin, end = event.start_mark.index, event.end_mark.index
        mark, is_folded = event.start_mark, event.end_mark.line != event.start_mark.line
        line, column = mark.line + 1, mark.column + 1
        node = ScalarNode(value, text, self.file, line, column, begin, end, style, is_folded)
        is_bare = not style and tag is None
        if is_bare and text == "<<" and self._expects_key():
            self._report("yaml.merge", event, "merge keys ('<<') are not supported", _NO_MERGE)
            self.stack[-1].skips_value = self.stack[-1].is_merging = True
            return
        self._put(node, _LEAF, event, event.anchor)

    def _tagged(self, event: _Event) -> str | int | float | bool | None:
        if event.tag not in SCALAR_TAGS:
            self._report_tag(event)
            return str(event.value)
        value, fits = resolve_tagged(event.value, event.tag)
        if not fits:
            name = event.tag.rpartition(":")[2]
            message = f"{event.value!r} is not a value of the type !!{name}"
            self._report("yaml.tag", event, message, "Remove the tag, or write a value that fits.")
        return value

    def _open(self, event: _Event) -> None:
        if len(self.stack) >= self.depth_max:
            message = f"values are nested deeper than {self.depth_max} levels"
            self._refuse("yaml.depth", event, message, "Flatten the document.")
        is_map = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, "!", MAP_TAG if is_map else LIST_TAG):
            self._report_tag(event)
        begin, is_flow = event.start_mark.index, bool(event.flow_style)
        entries: dict[str, Entry] | None = {} if is_map else None
        frame = _Open(self._span(event), begin, is_flow, event.anchor, entries)
        if self._expects_key():
            self._report_key(event, is_map=is_map)
            frame.is_key = True
        if not is_map and not event.flow_style:
            frame.dash_column = self._dash_column(event)
        self.stack.append(frame)

    def _close(self, event: _Event) -> None:
        frame = self.stack.pop()
        if frame.is_key:
            self.stack[-1].skips_value = True
            return
        end = event.end_mark.index
        node: Node
        if frame.entries is not None:
            entries = frame.merged | frame.entries if frame.merged else frame.entries
            node = MapNode(entries, frame.span, frame.begin, end, frame.is_flow)
        else:
            node = ListNode(tuple(frame.items), frame.span, frame.begin, end, frame.is_flow)
        weight = _Weight(frame.nodes, frame.aliases, frame.height)
        self._put(node, weight, event, frame.anchor)

    def _alias(self, event: _Event) -> None:
        known = self.anchors.get(event.anchor)
        if known is None:
            message = f"the alias *{event.anchor} refers to no finished value before it"
            self._report("yaml.alias", event, message, f"Define it earlier with &{event.anchor}.")
            mark, end = event.start_mark, event.end_mark.index
            line, column = mark.line + 1, mark.column + 1
            nothing = ScalarNode(None, "", self.file, line, column, mark.index, end)
            self._put(nothing, _LEAF, event, None)
            return
        node, weight = known
        self.aliases += 1 + weight.aliases
        self.aliased_nodes += weight.nodes
        if self.aliases > self.aliases_max or self.aliased_nodes > ALIASED_NODES_MAX:
            bounds = f"{self.aliases_max:,} aliases or {ALIASED_NODES_MAX:,} values"
            message = f"aliases expand to too much: more than {bounds}"
            self._refuse(
                "yaml.aliases", event, message, "Write the values out, or compute them at run time."
            )
        if len(self.stack) + weight.height > self.depth_max:
            message = f"values are nested deeper than {self.depth_max} levels through an alias"
            self._refuse("yaml.depth", event, message, "Flatten the document.")
        self._put(node, _Weight(weight.nodes, weight.aliases + 1, weight.height), event, None)

    # --- putting a finished node where it belongs ------------------------------------------------

    def _put(self, node: Node, weight: _Weight, event: _Event, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = (node, weight)
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        alias_end = event.end_mark.index if type(event) in _ALIASES else None
        if frame.entries is None:
            begin = node.begin if alias_end is None else event.start_mark.index
            is_own = frame.is_flow and alias_end is None
            place = node.span if is_own else self._item_place(frame, begin)
            frame.items.append(Item(place, node, begin, alias_end))
        elif frame.skips_value:
            added = node if frame.is_merging and isinstance(node, MapNode) else None
            frame.skips_value = frame.is_merging = False
            if added is None:
                return
            # What a merge key adds is kept, so that nothing it holds is reported as missing; and
            # it weighs as much as anything else, or each level of them would multiply the last.
            frame.merged = frame.merged or {}
            frame.merged.update(added.entries)
        elif frame.key is None:
            self._put_key(frame, node, event)
            return
        else:
            key = frame.key
            frame.entries[key.text] = Entry(key.text, key, node, alias_end)
            frame.key = None
        frame.nodes += weight.nodes
        frame.aliases += weight.aliases
        frame.height = max(frame.height, weight.height + 1)

    def _put_key(self, frame: _Open, node: Node, event: _Event) -> None:
        if not isinstance(node, ScalarNode):
            frame.skips_value = True  # only an alias comes here; others were refused when opened
            self._report("yaml.key", event, _NO_COLLECTION, _KEY_FORM)
            return
        key = node.text
        first = frame.entries.get(key) if frame.entries is not None else None
        if first is not None:
            message = f"the key {key!r} occurs twice; it was first given in line {first.place.line}"
            self._report("yaml.duplicate-key", event, message, "Remove one of the two.")
            frame.skips_value = True
            return
        frame.key = node

    def _expects_key(self) -> bool:
        if not self.stack:
            return False
        frame = self.stack[-1]
        return frame.entries is not None and frame.key is None and not frame.skips_value

    def _report_key(self, event: _Event, *, is_map: bool) -> None:
        begin = event.start_mark.index
        if is_map and self.text[begin - 1 : begin + 1] == "{{":
            message = "a template that is not in quotes is read as a mapping in braces"
            outer = self.stack[-1].span
            self.findings.append(finding("yaml.key", outer, message, _QUOTE_TEMPLATE))
        else:
            self._report("yaml.key", event, _NO_COLLECTION, _KEY_FORM)

    # --- places ----------------------------------------------------------------------------------

    @cached_property
    def line_starts(self) -> list[int]:
        return line_starts(self.text)

    def _line(self, number: int) -> str:
        """The text of a line (from 0) without its break."""
        starts = self.line_starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n\x85\u2028\u2029")

    def _span(self, event: _Event) -> Span:
        mark = event.start_mark
        return Span(self.file, mark.line + 1, mark.column + 1)

    def _dash_column(self, event: _Event) -> int:
        """Where the dashes of a block list stand; behind an anchor or tag they come later."""
        index = event.start_mark.index
        if self.text[index : index + 1] == "-":
            return int(event.start_mark.column)
        for number in range(event.start_mark.line + 1, len(self.line_starts)):
            line = self._line(number)
            if line.lstrip(" ").startswith("-"):
                return len(line) - len(line.lstrip(" "))
        return int(event.start_mark.column)

    def _item_place(self, frame: _Open, begin: int) -> Span:
        here = span_at(self.line_starts, self.file, begin)
        if frame.is_flow:
            return here
        column, last = frame.dash_column, here.line - 1
        floor = frame.items[-1].place.line if frame.items else frame.span.line - 1
        for number in range(last, min(floor, last) - 1, -1):
            line = self._line(number)
            if line[column : column + 1] == "-" and not line[:column].strip(" -?:"):
                return Span(self.file, number + 1, column + 1)
        return here

    # --- findings --------------------------------------------------------------------------------

    def _report(self, rule: str, event: _Event, message: str, remedy: str) -> None:
        self.findings.append(finding(rule, self._span(event), message, remedy))

    def _report_tag(self, event: _Event) -> None:
        tag = str(getattr(event, "tag", ""))
        shown = tag.replace("tag:yaml.org,2002:", "!!")
        self._report("yaml.tag", event, f"the tag {shown} is not allowed", _NO_TAG)

    def _refuse(self, rule: str, event: _Event, message: str, remedy: str) -> None:
        self._report(rule, event, message, remedy)
        raise _Refused

    def syntax_finding(self, error: yaml.YAMLError) -> Finding:
        problem = str(getattr(error, "problem", None) or error)
        mark = getattr(error, "problem_mark", None)
        if mark is None or any(sign in problem for sign in _NOT_CLOSED):
            mark = getattr(error, "context_mark", None) or mark  # where the open thing begins
        last = len(self.line_starts) - 1
        number = min(mark.line, last) if mark is not None else 0
        line = self._line(number)
        is_behind = mark is not None and mark.line > last
        column = len(line) if is_behind else min(mark.column if mark is not None else 0, len(line))
        message, remedy = explain(problem, line, column)
        return finding("yaml.syntax", Span(self.file, number + 1, column + 1), message, remedy)


_NOT_CLOSED = ("expected ',' or", "found unexpected end of stream")
_ONE_DOCUMENT = "Keep one document per file."
_NO_MERGE = "Write the keys out, or use an alias for the whole value."
_NO_COLLECTION = "a key must be a word or a number, not a collection"
_KEY_FORM = "Write `word: value`; in quotes, a key may hold any text."
_QUOTE_TEMPLATE = 'Put quotes around it: "{{ … }}".'
_NO_TAG = "Remove the tag; only the types of JSON exist here."
