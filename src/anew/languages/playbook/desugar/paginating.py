"""`paginate` on a task: read a page, hand it on, and come back for the next one.

The task notes in `iter` what its page said; a task after it jumps back while there is a next page.
Between the two stands the `sink`, so that a page is kept before the next one is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from anew.languages import made
from anew.languages.nodes import Entry, Item, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.expression_texts import bare_expression, either, quoted
from anew.languages.playbook.desugar.polling import rule_item, with_rules_of
from anew.languages.playbook.keys import PAGINATE_KEYS
from anew.program.span import Span

_RULE = "paginate.shape"
_FORM = 'Write `paginate: {next: "{{ outcome.result.data.next }}", param: cursor}`.'
_PLACES = ("param", "url", "args")
_NO_NAME = re.compile(r"\W")
_CONTENT = "outcome.result.data if outcome.result.data is defined else outcome.result"


class _Pages(Struct, frozen=True):
    """One `paginate`: `state` is where in `iter` it keeps what it knows."""

    c: Compilation
    label: str
    node: MapNode
    place: Span

    @property
    def state(self) -> str:
        return f"{_NO_NAME.sub('_', self.label)}_pages"

    def expression(self, key: str) -> str | None:
        entry = self.node.get(key)
        if entry is None or is_null(entry.node):
            return None
        return bare_expression(self.c, entry, _RULE)

    def word(self, key: str) -> str | None:
        entry = self.node.get(key)
        return None if entry is None else self.c.text(entry, key)


def with_pages(c: Compilation, rows: Iterable[Item]) -> list[Item]:
    """The tasks of a pipeline, with those that `paginate` of one stands for."""
    found = list(rows)
    for row in list(found):
        label, task = _labelled(row)
        entry = task.get("paginate") if task is not None else None
        if label is None or task is None or entry is None:
            continue
        at = next(index for index, one in enumerate(found) if one is row)
        node = c.mapping(entry, "paginate")
        rest = made.mapping((e for e in task if e is not entry), task.span)
        if node is None or not _is_whole(c, node, entry):
            found[at] = _with_task(row, label, rest)
            continue
        pages = _Pages(c, label.key, node, entry.place)
        found[at] = _with_task(row, label, _reading(pages, rest))
        sink = _sink(pages, found)
        found[at + 1 : at + 1] = [*sink, _turning(pages)]
    return found


def _labelled(row: Item) -> tuple[Entry | None, MapNode | None]:
    entries = list(row.node) if isinstance(row.node, MapNode) else []
    if len(entries) != 1 or not isinstance(entries[0].node, MapNode):
        return None, None
    return entries[0], entries[0].node


def _with_task(row: Item, label: Entry, task: MapNode) -> Item:
    assert isinstance(row.node, MapNode)
    return made.with_node(row, made.mapping([made.renamed(label, label.key, task)], row.node.span))


def _is_whole(c: Compilation, node: MapNode, entry: Entry) -> bool:
    c.check_keys(node, PAGINATE_KEYS, "paginate")
    places = [key for key in _PLACES if key in node]
    for extra in places[1:]:
        message = f"`{places[0]}` and `{extra}` both say where the cursor goes"
        c.report(_RULE, node.entries[extra].place, message, "Keep one of them.")
    given = node.get("next")
    if given is not None and not is_null(given.node):
        return True
    ends = [key for key in ("items", "stop_when", "max_pages") if key in node]
    if ends and places in (["param"], ["args"]):
        return True
    message = "without `next` pages are counted, which needs `param` or `args`, and an end"
    c.report(_RULE, entry.place, message, f"{_FORM} Or count: `{{param: page, items: …}}`.")
    return False


# --- the task that reads a page ------------------------------------------------------------------


def _reading(pages: _Pages, task: MapNode) -> MapNode:
    """The task with the cursor in its inputs, and with a note of what its page said."""
    entries = {entry.key: entry for entry in task}
    counted = pages.expression("next") is None
    cursor, start = f"iter.{pages.state}.at", made.scalar(1, pages.place) if counted else None
    asked, key = f"{cursor} is defined", None
    first: Node | None = None
    url = pages.node.get("url")
    if url is not None and getattr(url.node, "text", "") != "false":
        first = entries["url"].node if "url" in entries else None
        entries["url"] = made.entry("url", either(cursor, asked, first, pages.place), pages.place)
    for holder, name in (("params", pages.word("param")), ("args", pages.word("args"))):
        if name is not None:
            key = name
            below = _below(entries.get(holder))
            first = below[name].node if name in below else start
            value = either(cursor, asked, first, pages.place)
            below[name] = made.entry(name, value, pages.place)
            inner = made.mapping(below.values(), pages.place)
            entries[holder] = made.entry(holder, inner, pages.place)
    noted = _noted(pages, cursor, first if counted and key is not None else None)
    own = _below(entries.get("set_iter"))
    own[pages.state] = made.entry(pages.state, quoted(noted, pages.place), pages.place)
    written = made.mapping(own.values(), pages.place)
    entries["set_iter"] = made.entry("set_iter", written, pages.place)
    entries["spec"] = _checking(pages, entries.get("spec"))
    return made.mapping(entries.values(), task.span)


def _checking(pages: _Pages, spec: Entry | None) -> Entry:
    """The task's `spec` with a rule that no page may come again, before anything is kept of it."""
    repeats = f"iter.{pages.state}.repeats"
    rule = rule_item(pages.place, repeats, do="fail", message=f"{{{{ {repeats} }}}}")
    below = _below(spec)
    word = pages.node.get("next") or next(iter(pages.node))
    policy = with_rules_of(word, below.get("policy"), [rule], first=True)
    inner = made.mapping((below | {"policy": policy}).values(), pages.place)
    return made.entry("spec", inner, pages.place)


def _below(entry: Entry | None) -> dict[str, Entry]:
    node = entry.node if entry is not None else None
    return dict(node.entries) if isinstance(node, MapNode) else {}


def _noted(pages: _Pages, cursor: str, first: Node | None) -> str:
    """`{{ read_page(…) }}`: what the page said, for the task that turns it."""
    items, stop = pages.expression("items"), pages.expression("stop_when")
    following = pages.expression("next")
    if following is None:
        begin = first.text if isinstance(first, ScalarNode) and first.text.isdigit() else "1"
        following = f"({cursor} if {cursor} is defined else {begin}) + 1"
        if items is not None:
            following = f"{following} if ({items}) else none"
    parts = [f"iter.{pages.state}", f"next={following}", f"content={items or _CONTENT}"]
    if items is not None and "into" in pages.node:
        parts.append(f"items={items}")
    if stop is not None:
        parts.append(f"stop={stop}")
    return f"{{{{ read_page({', '.join(parts)}, failed=outcome.status == 'error') }}}}"


# --- what comes after it -------------------------------------------------------------------------


def _sink(pages: _Pages, rows: list[Item]) -> Iterator[Item]:
    """The task that keeps a page: one of the pipeline, which moves here, or one of its own."""
    entry = pages.node.get("sink")
    if entry is None or is_null(entry.node):
        return
    if isinstance(entry.node, MapNode):
        yield from _own_sink(pages, entry, entry.node)
        return
    name = pages.word("sink") or ""
    labels = {label.key: row for row in rows for label in [_labelled(row)[0]] if label is not None}
    if name not in labels or name == pages.label:
        message = f"the sink {shown(entry.node)} is no other task of this step"
        remedy = pages.c.suggestions.remedy(name, [one for one in labels if one != pages.label])
        pages.c.report(_RULE, entry.node.span, message, remedy)
        return
    rows.remove(labels[name])
    yield labels[name]


def _own_sink(pages: _Pages, entry: Entry, node: MapNode) -> Iterator[Item]:
    label = f"{pages.label}_sink"
    if "kind" not in node and len(node.entries) == 1:
        (inner,) = node
        label, node = inner.key, inner.node if isinstance(inner.node, MapNode) else node
    if "kind" not in node:
        message = f"the sink must be a task or the label of one; found {shown(entry.node)}"
        pages.c.report(_RULE, entry.place, message, "Write `sink: {kind: sqlite, …}`.")
        return
    yield Item(entry.place, made.mapping([made.entry(label, node, entry.place)], entry.place))


def _turning(pages: _Pages) -> Item:
    """The task that jumps back for the next page, or ends them."""
    place, state = pages.place, f"iter.{pages.state}"
    result = {"pages": f"{{{{ {state}.number }}}}", "next": f"{{{{ {state}.next }}}}"}
    told = [made.entry(key, quoted(text, place), place) for key, text in result.items()]
    policy = made.mapping([made.entry("rules", made.sequence(_rules(pages), place), place)], place)
    spec = made.mapping([made.entry("policy", policy, place)], place)
    entries = [
        made.entry("kind", made.scalar("noop", place), place),
        made.entry("result", made.mapping(told, place), place),
    ]
    into = pages.word("into")
    if into is not None:
        kept = f"{{{{ (ctx.{into} or []) + ({state}.items or []) }}}}"
        written = made.mapping([made.entry(into, quoted(kept, place), place)], place)
        entries.append(made.entry("set_ctx", written, place))
    entries.append(made.entry("spec", spec, place))
    label = made.entry(f"after_{pages.label}", made.mapping(entries, place), place)
    return Item(place, made.mapping([label], place))


def _rules(pages: _Pages) -> Iterator[Item]:
    place, state, c = pages.place, f"iter.{pages.state}", pages.c
    ended = f"{state}.failed or {state}.stop or {state}.next is none"
    yield rule_item(place, ended, do="continue")
    most = pages.node.get("max_pages")
    number = c.whole_number(most, "max_pages", rule=_RULE)
    if number != 1:
        turned = made.mapping(
            [made.entry(pages.state, quoted(f"{{{{ turn_page({state}) }}}}", place), place)], place
        )
        more = [made.entry("set_iter", turned, place)]
        if number is not None and most is not None:
            more.append(made.entry("most", made.scalar(number - 1, place), most.place))
        yield rule_item(place, f"{state}.next is not none", *more, do="jump", to=pages.label)
    then = made.mapping([made.entry("do", made.scalar("continue", place), place)], place)
    inner = made.mapping([made.entry("then", then, place)], place)
    yield Item(place, made.mapping([made.entry("else", inner, place)], place))
