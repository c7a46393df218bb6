"""Read a step's `loop`."""

from __future__ import annotations

from anew.expressions import Template, constant
from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.keys import LOOP_KEYS, LOOP_POLICY_IDLE, LOOP_SPEC_KEYS
from anew.languages.playbook.other_policies import holds_directives, read_other_policy
from anew.program.program import Loop, LoopMode

MAX_IN_FLIGHT_DEFAULT = 32
_FORM = 'Write `loop: {in: "{{ … }}", iterator: item}`.'
_CURSOR_FORM = (
    "Claims by a database are not supported. Read the rows in a step before this one, and go "
    'through them: `loop: {in: "{{ claim.rows }}", iterator: row, spec: {mode: parallel}}`.'
)
# What `iter` holds besides the iterator.
_TAKEN = frozenset({"index", "parent"})


def read_loop(c: Compilation, entry: Entry | None) -> Loop | None:
    """The loop of a step; None when there is none or it can have no meaning."""
    if entry is None:
        return None
    node = MapNode({}, entry.place, 0, 0) if is_null(entry.node) else c.mapping(entry, "loop")
    if node is None:
        return None
    if "cursor" in node:
        message = "`loop.cursor` is an older form that is not run"
        c.report("dialect.unsupported", node.entries["cursor"].place, message, _CURSOR_FORM)
        return None
    c.check_keys(node, LOOP_KEYS, "loop")
    source = _read_source(c, entry, node)
    iterator = _read_iterator(c, entry, node)
    spec = c.mapping(node.get("spec"), "loop.spec")
    if spec is not None:
        c.check_keys(spec, LOOP_SPEC_KEYS, "loop.spec")
        _read_policy(c, spec)
    mode = c.word(_setting(spec, "mode"), LoopMode, rule="loop.mode", what="loop mode")
    in_flight = _read_in_flight(c, _setting(spec, "max_in_flight"))
    return Loop(source, iterator or "item", mode or LoopMode.SEQUENTIAL, in_flight, entry.place)


def _read_policy(c: Compilation, spec: MapNode) -> None:
    """`policy: {exec: local | distributed}`, which the runtime decides for itself."""
    policy = read_other_policy(c, spec, ("exec",), "a loop", idle=LOOP_POLICY_IDLE)
    where = policy.get("exec") if policy is not None else None
    if where is not None and not holds_directives(where):
        c.text(where, "exec")


def _setting(spec: MapNode | None, key: str) -> Entry | None:
    return spec.get(key) if spec is not None else None


def _read_source(c: Compilation, entry: Entry, node: MapNode) -> Template:
    found = node.get("in")
    if found is None or is_null(found.node):
        place = found.place if found is not None else entry.holder
        c.report(
            "loop.in-missing",
            place,
            "a loop does not say what to go through: `in` is missing",
            _FORM,
        )
        return constant([])
    if not _may_be_list(found.node):
        message = f"`in` must be a list, a mapping or a template of one; found {shown(found.node)}"
        text = found.node.text if isinstance(found.node, ScalarNode) else "…"
        remedy = f'Did you mean "{{{{ {text} }}}}"?'
        c.report("loop.in", found.node.span, message, remedy)
    return c.template(found.node, Site.LOOP)


def _may_be_list(node: Node) -> bool:
    if not isinstance(node, ScalarNode):
        return isinstance(node, ListNode | MapNode)
    return isinstance(node.value, str) and "{{" in node.value


def _read_iterator(c: Compilation, entry: Entry, node: MapNode) -> str | None:
    found = node.get("iterator")
    if found is None or is_null(found.node):
        place = found.place if found is not None else entry.holder
        c.report("loop.iterator-missing", place, "a loop does not name its `iterator`", _FORM)
        return None
    name = c.text(found, "iterator")
    if name == "":
        message = "a loop does not name its `iterator`"
        c.report("loop.iterator-missing", found.node.span, message, _FORM)
    elif name is not None and (name in _TAKEN or not name.isidentifier()):
        why = "`iter` has it already" if name in _TAKEN else "it is not a name"
        message = f"the iterator {name!r} cannot be read as `iter.{name}`: {why}"
        c.report("loop.iterator", found.node.span, message, "Write `iterator: item`.")
    return name


def _read_in_flight(c: Compilation, entry: Entry | None) -> int | Template:
    if entry is None:
        return MAX_IN_FLIGHT_DEFAULT
    node = entry.node
    if isinstance(node, ScalarNode) and isinstance(node.value, str) and "{{" in node.value:
        return c.template(node, Site.LOOP)
    number = c.whole_number(entry, "max_in_flight", rule="loop.max-in-flight")
    return MAX_IN_FLIGHT_DEFAULT if number is None else number
