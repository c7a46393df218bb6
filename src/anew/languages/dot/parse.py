"""Read a DOT document: its one `digraph`, statement by statement, with every mistake in it.

A statement that is wrong is reported and skipped to its end. Which dialect the graph is written in
is not known here: what a chain of edges states is kept apart until it is.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from anew.languages.dot.attribute_lists import read_lists, read_pair
from anew.languages.dot.attributes import shown
from anew.languages.dot.building import SUBGRAPH_DEPTH_MAX, Builder, Chain
from anew.languages.dot.cursor import Cursor, ReadingStopped, named, value_text
from anew.languages.dot.graph import Graph
from anew.languages.dot.scopes import Block
from anew.languages.dot.source import SourceText, decode
from anew.languages.dot.tokens import END, IDS, KEYWORDS, WORD, DotToken, tokenize
from anew.program.findings import Finding, did_you_mean

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ODD_WORD = re.compile(r"[.-]")
_ARROWS = frozenset({"->", "--"})

_STATEMENTS = "A statement is `id [..]`, `id -> id`, `key = value` or `subgraph { .. }`."
_COMMENTS = "A comment starts with `//`, or with `#` in the first column."
_DIGRAPH = "Write `digraph name { ... }`."
_ONE_GRAPH = "Keep one graph per file."


class Parsed(Struct):
    """`graph` is None when nothing of it could be read; findings may tell of errors with it."""

    graph: Graph | None
    findings: list[Finding]
    chains: list[Chain] = field(default_factory=list)
    source: SourceText | None = None


def parse_dot(document: str | bytes, file: str) -> Parsed:
    """The graph as it is written, with the attributes of a chain on its last hop only."""
    source = decode(document, file)
    if isinstance(source, Finding):
        return Parsed(None, [source])
    tokens = tokenize(source)
    parser = _Parser(Cursor(source, tokens.items, is_cut=tokens.problem is not None))
    try:
        parser.read()
    except ReadingStopped:
        parser.is_refused = True
    findings = parser.cursor.findings
    if tokens.problem is not None:
        findings.append(tokens.problem)
    builder = parser.builder
    if builder is None or parser.is_refused:
        return Parsed(None, findings, source=source)
    return Parsed(builder.graph, findings, builder.chains, source)


def spread_chains(chains: list[Chain]) -> None:
    """Give every hop of a chain what was stated behind the last (the spec dialect)."""
    for chain in chains:
        for hop in chain.hops:
            hop.attributes.update(chain.stated)


class _Parser:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.is_refused = False
        self.builder: Builder | None = None
        self.scopes: list[Block] = []
        self.odd_ids: set[str] = set()

    # --- the document ------------------------------------------------------------------------

    def read(self) -> None:
        builder = self._header()
        if builder is None:
            return
        self.builder = builder
        while self.scopes and self.cursor.kind != END:
            self._statement(builder)
        if self.scopes:
            self._report_open_block()
        else:
            self._trailer()
        builder.finish()

    def _header(self) -> Builder | None:
        cursor = self.cursor
        first = cursor.here
        if first.kind == END:
            cursor.report("dot.empty", first, "the document is empty", _DIGRAPH)
            return None
        self._graph_word()
        name = value_text(cursor.take()) if cursor.kind in IDS else ""
        if cursor.kind != "{":
            message = f"found {named(cursor.here)} where `{{` is expected"
            cursor.report("dot.syntax", cursor.here, message, _DIGRAPH)
            return None
        self.scopes.append(Block(cursor.take()))
        return Builder(cursor, Graph(name, cursor.span(first)))

    def _graph_word(self) -> None:
        cursor = self.cursor
        if _keyword(cursor.here) == "strict":
            message = "`strict` graphs are not supported: two edges between two nodes may differ"
            cursor.report("dot.strict", cursor.take(), message, "Remove the word `strict`.")
        word = _keyword(cursor.here)
        if word == "digraph":
            cursor.take()
        elif word == "graph":
            message = "found an undirected `graph` where a `digraph` is expected"
            cursor.report("dot.undirected", cursor.take(), message, "Write `digraph` and `->`.")
        else:
            found = cursor.here
            message = f"found {named(found)} where `digraph` is expected"
            remedy = did_you_mean(found.text.lower(), ["digraph"]) if found.kind == WORD else None
            cursor.report("dot.syntax", found, message, remedy or _DIGRAPH)
            if remedy is None:
                raise ReadingStopped
            cursor.take()

    def _trailer(self) -> None:
        cursor = self.cursor
        while cursor.kind == ";":
            cursor.take()
        found = cursor.here
        if found.kind == END:
            return
        if _keyword(found) in ("digraph", "graph", "strict"):
            cursor.report("dot.several", found, "a second graph starts here", _ONE_GRAPH)
            return
        message = f"found {named(found)} after the end of the graph"
        remedy = "Remove it, or look for a `}` too many before it."
        cursor.report("dot.syntax", found, message, remedy)

    def _report_open_block(self) -> None:
        opening = self.scopes[-1].opening
        what = "subgraph" if len(self.scopes) > 1 else "graph"
        message = f"the {what} that starts here is not closed before the end of the document"
        self.cursor.report("dot.syntax", opening, message, "Close it with `}`.")

    # --- statements ----------------------------------------------------------------------------

    def _statement(self, builder: Builder) -> None:
        cursor = self.cursor
        kind = cursor.kind
        if kind == ";":
            cursor.take()
        elif kind == "}":
            self._close()
        elif kind == "{":
            self._open()
        elif kind not in IDS:
            message = f"found {named(cursor.here)} where a statement is expected"
            remedy = _COMMENTS if cursor.text_is("#") else _STATEMENTS
            cursor.report("dot.syntax", cursor.take(), message, remedy)
            self._skip()
        elif (word := _keyword(cursor.here)) and cursor.next_kind() != "=":
            self._keyword_statement(builder, word)
        elif cursor.next_kind() == "=":
            self._assignment(builder)
        else:
            self._node_or_edge(builder)

    def _keyword_statement(self, builder: Builder, word: str) -> None:
        if word == "subgraph":
            self._subgraph()
            return
        cursor = self.cursor
        token = cursor.take()
        if word in ("node", "edge", "graph") and cursor.kind == "[":
            self._defaults(builder, token, word)
            return
        if word in ("digraph", "strict"):
            message = f"found {named(token)} inside a graph"
            remedy = "Close the graph before it with `}`, and keep one graph per file."
        else:
            message = f"found {named(cursor.here)} after {named(token)} where `[` is expected"
            remedy = f'Write `{word} [..]` for defaults; a node with this id is `"{token.text}"`.'
        cursor.report("dot.syntax", token, message, remedy)
        self._skip()

    def _defaults(self, builder: Builder, token: DotToken, word: str) -> None:
        stated = read_lists(self.cursor) or {}
        scope = self.scopes[-1]
        if word == "node":
            builder.set_node_defaults(scope, stated, at=token)
        elif word == "edge":
            builder.set_edge_defaults(scope, stated, at=token)
        else:
            builder.set_graph(scope, stated)

    def _assignment(self, builder: Builder) -> None:
        attribute = read_pair(self.cursor)
        if attribute is None:
            self._skip()
        else:
            builder.set_graph(self.scopes[-1], {attribute.key: attribute})

    def _node_or_edge(self, builder: Builder) -> None:
        first = self._id()
        cursor = self.cursor
        if cursor.kind in _ARROWS:
            self._edge(builder, first)
            return
        stated = read_lists(cursor)
        if value_text(first):
            builder.declare(first, self.scopes[-1], stated=stated)
        if cursor.text_is(">", "=>") or cursor.kind == ":":
            message = f"found {named(cursor.here)} after {named(first)} where `->` is expected"
            cursor.report("dot.syntax", cursor.take(), message, "An edge is written `a -> b`.")
            self._skip()

    def _edge(self, builder: Builder, first: DotToken) -> None:
        cursor = self.cursor
        ids = [first]
        while cursor.kind in _ARROWS:
            arrow = cursor.take()
            if arrow.kind == "--":
                message = "found `--` where `->` is expected: edges have a direction"
                cursor.report("dot.undirected", arrow, message, "Write `->`.")
            if not self._is_target():
                return
            ids.append(self._id())
        stated = read_lists(cursor) or {}
        if all(value_text(token) for token in ids):
            builder.connect(ids, self.scopes[-1], stated=stated)

    def _is_target(self) -> bool:
        """Whether an id stands here; what cannot be an edge's end is reported."""
        cursor = self.cursor
        word = _keyword(cursor.here)
        if cursor.kind == "{" or word == "subgraph":
            self._report_endpoint(cursor.here)
            self._open_endpoint()
            return False
        if cursor.kind in IDS and not word:
            return True
        message = f"found {named(cursor.here)} where the node that an edge leads to is expected"
        remedy = "Write the id of a node."
        if word:
            remedy = f'{named(cursor.here)} is a keyword; a node with this id is `"{word}"`.'
        cursor.report("dot.syntax", cursor.here, message, remedy)
        self._skip()
        return False

    def _id(self) -> DotToken:
        """The id here, with what is odd about it reported, and its port skipped."""
        cursor = self.cursor
        token = cursor.take()
        name = value_text(token)
        if not name:
            cursor.report("dot.syntax", token, "the id of a node is empty", "Give it a name.")
        elif token.kind == WORD and _ODD_WORD.search(name):
            message = f"the id {name!r} has a character that a bare id cannot have"
            plain = _ODD_WORD.sub("_", name)
            cursor.report("dot.syntax", token, message, f'Write `{plain}`, or `"{name}"`.')
        elif not _IDENTIFIER.fullmatch(name) and name not in self.odd_ids:
            self.odd_ids.add(name)  # told where it is used first
            message = f"the id {shown(name)} is not an identifier"
            remedy = "Use letters A to Z, digits and `_`; put other text in `label`."
            cursor.report("dot.quoted-id", token, message, remedy)
        if cursor.kind == ":" and cursor.next_kind() in IDS:
            self._port(name)
        return token

    def _port(self, name: str) -> None:
        cursor = self.cursor
        message = f"the node {shown(name)} is written with a port, which has no meaning here"
        cursor.report("dot.port", cursor.here, message, "Remove the `:` and what follows it.")
        while cursor.kind == ":" and cursor.next_kind() in IDS:
            cursor.take()
            cursor.take()

    # --- blocks --------------------------------------------------------------------------------

    def _subgraph(self) -> None:
        cursor = self.cursor
        word = cursor.take()
        if cursor.kind in IDS:
            cursor.take()
        if cursor.kind == "{":
            self._open()
            return
        message = f"found {named(cursor.here)} after `subgraph` where `{{` is expected"
        cursor.report("dot.syntax", word, message, "Write `subgraph name { ... }`.")
        self._skip()

    def _open(self) -> Block:
        opening = self.cursor.take()
        if len(self.scopes) > SUBGRAPH_DEPTH_MAX:
            message = f"subgraphs are nested deeper than {SUBGRAPH_DEPTH_MAX} levels"
            self.cursor.refuse("dot.size", opening, message, "Flatten them.")
        scope = self.scopes[-1].inner(opening)
        self.scopes.append(scope)
        return scope

    def _open_endpoint(self) -> None:
        """Read the block all the same: its nodes exist, and its mistakes are worth telling."""
        depth = len(self.scopes)
        if self.cursor.kind == "{":
            self._open()
        else:
            self._subgraph()
        if len(self.scopes) > depth:
            self.scopes[-1].is_endpoint = True

    def _close(self) -> None:
        cursor = self.cursor
        cursor.take()
        scope = self.scopes.pop()
        if not self.scopes:
            return
        if cursor.kind in _ARROWS:
            if not scope.is_endpoint:
                self._report_endpoint(scope.opening)
            cursor.take()
            if cursor.kind == "{" or _keyword(cursor.here) == "subgraph":
                self._open_endpoint()
        elif cursor.kind == "[":
            if not scope.is_endpoint:
                message = "a subgraph has no attribute list behind it"
                remedy = "Write `key = value` inside its braces."
                cursor.report("dot.syntax", cursor.here, message, remedy)
            read_lists(cursor)

    def _report_endpoint(self, at: DotToken) -> None:
        message = "an edge joins nodes; it cannot start or end at a subgraph"
        remedy = "Write one edge for each node."
        self.cursor.report("dot.subgraph-endpoint", at, message, remedy)

    def _skip(self) -> None:
        """Go to the end of a statement that makes no sense."""
        cursor = self.cursor
        while cursor.kind not in (";", "{", "}", END):
            if cursor.kind == "[":
                read_lists(cursor)
            elif cursor.kind in IDS and cursor.is_first_of_line():
                return
            else:
                cursor.take()


def _keyword(token: DotToken) -> str:
    """The keyword a bare word is, in lower case; DOT knows them in any case."""
    word = token.text.lower() if token.kind == WORD else ""
    return word if word in KEYWORDS else ""
