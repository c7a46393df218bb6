"""One task in its canonical form: `kind`, inputs by their own names, and `spec` with the rest.

Here an older word of a task becomes what it stands for: a name of an input is a row in the table of
kinds, a word that stands for rules is read in `policies`, and one that is not run has a remedy.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.languages import made
from anew.languages.nodes import Entry, Item, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.canonical import TaskNode
from anew.languages.playbook.desugar.forms import TaskForm
from anew.languages.playbook.desugar.jitters import check_jitter
from anew.languages.playbook.desugar.policies import policy_of_eval, with_rules
from anew.languages.playbook.desugar.retries import policy_of_retry
from anew.languages.playbook.desugar.shell_commands import canonical_commands
from anew.languages.playbook.keys import (
    ARGS_KEYS,
    SQL_IDLE,
    TASK_IDLE,
    TASK_KEYS,
    TASK_SET_KEYS,
    TASK_SPEC_KEYS,
    UNSUPPORTED_KEYS,
)
from anew.languages.playbook.keys_below import TYPO_LIKENESS_MIN
from anew.program.kind import Kind
from anew.program.kinds import find_kind
from anew.program.program import Dialect

TIMEOUT_NAMES = ("timeout", "timeout_seconds")
_TIMEOUT_FORM = "`spec: {timeout: …}`"
_LABEL_FORM = "If it is the task's label, indent the lines below it."
# What says something of the task beside its inputs, and stays where it is.
_KEPT = (*TASK_SET_KEYS, "paginate", "desc", "description")


def report_unsupported(c: Compilation, entry: Entry, remedy: str) -> None:
    message = f"`{entry.key}` is an older form that is not run"
    c.report("dialect.unsupported", entry.place, message, f"Write {remedy}.")


def kind_of(c: Compilation, node: Node | None) -> Kind | None:
    """The kind that a node names, if there is one of that name."""
    if not isinstance(node, ScalarNode) or is_null(node):
        return None
    return find_kind(node.text) or c.kinds.get(node.text)


def labelled_item(c: Compilation, form: TaskForm) -> Item:
    """A task of a pipeline as `- label: {kind: …}`."""
    task, item = task_node(c, form), form.item
    if item is not None and task is form.source:
        return item
    entry = Entry(form.label, form.name, task, origins=_label_origins(form))
    if item is None:
        return Item(form.holder, made.mapping([entry], form.holder))
    return Item(item.place, made.mapping([entry], item.place), item.begin, origin=item)


def _label_origins(form: TaskForm) -> tuple[Entry, ...]:
    node = form.item.node if form.item is not None else None
    if not isinstance(node, MapNode):
        return ()
    found = node.get(form.label) or node.get("name")
    return () if found is None else (found,)


def task_node(c: Compilation, form: TaskForm) -> MapNode:
    """A task's mapping; the author's own where it is canonical."""
    kind = kind_of(c, form.kind.node) if form.kind is not None else None
    for key, remedy in UNSUPPORTED_KEYS.items():
        if key in form.fields:
            report_unsupported(c, form.fields[key], remedy)
    spec = None if form.is_on_step else c.mapping(form.fields.get("spec"), "spec")
    fields = _inputs(c, form, kind, spec)
    below = list(_settings(c, form, kind, spec))
    entries = [] if form.kind is None else [form.kind]
    entries += [entry for key, entry in fields.items() if key != "spec"]
    written = _spec_entry(form.fields.get("spec"), spec, below, form)
    source = form.source
    if source is not None and len(entries) + (written is not None) == len(source.entries):
        own = (*entries, *(() if written is None else (written,)))
        if all(source.entries.get(entry.key) is entry for entry in own):
            return source
    if written is not None and below:
        entries.append(written)
    dialect = _dialect(form)
    if dialect is None:
        return made.mapping(entries, form.holder)
    return TaskNode({entry.key: entry for entry in entries}, form.holder, dialect=dialect)


def _dialect(form: TaskForm) -> Dialect | None:
    """The dialect that the form of a task shows; None where only its expressions can."""
    if "eval" in form.fields:
        return Dialect.EVAL
    return Dialect.RETRY if "retry" in form.fields or form.is_on_step else None


# --- inputs --------------------------------------------------------------------------------------


def _inputs(
    c: Compilation, form: TaskForm, kind: Kind | None, spec: MapNode | None
) -> dict[str, Entry]:
    """What stands beside `kind`, by its canonical name."""
    inputs: dict[str, Entry] = {}
    for key, entry in form.fields.items():
        if key in _KEPT or kind is None:
            inputs[key] = entry
        elif _is_idle(c, entry, kind) or key in TASK_KEYS or key in UNSUPPORTED_KEYS:
            continue
        elif not (key in TIMEOUT_NAMES and "timeout" not in kind.inputs and not kind.is_open):
            _take(c, inputs, entry, kind, may_label=_may_label(form, entry))
    for entry in spec or ():
        if kind is not None and entry.key not in TASK_SPEC_KEYS and not _is_idle(c, entry, kind):
            message = f"`{entry.key}` is under `spec`"
            c.noncanonical("strict.spec-input", entry.place, message, "it next to `kind`")
            if kind.canonical(entry.key) not in inputs:
                _take(c, inputs, entry, kind, also=TASK_SPEC_KEYS)
            if entry.key in TASK_KEYS or entry.key == "kind":
                inputs.pop(entry.key, None)  # beside `kind` it would mean something else
    if kind is not None and kind.takes_args_apart:
        _take_args_apart(c, inputs, kind, form.label)
    if kind is not None and kind.shell:
        canonical_commands(c, inputs, kind)
    if kind is not None and "script" in inputs:
        # Few tasks have one.
        from anew.languages.playbook.desugar.scripts import canonical_script  # noqa: PLC0415

        canonical_script(c, inputs, kind)
    if kind is not None and (kind.sides or kind.word_inputs):
        # Few kinds have such inputs.
        from anew.languages.playbook.desugar.sides import canonical_inputs  # noqa: PLC0415

        canonical_inputs(c, kind, inputs)
    return inputs


def _take_args_apart(c: Compilation, inputs: dict[str, Entry], kind: Kind, label: str) -> None:
    """Inputs that stand below `args`, next to the others; in a list, `name` is the task's label."""
    args = inputs.get("args")
    if args is None or not isinstance(args.node, MapNode):
        return
    name = inputs.get("name")
    if name is not None and isinstance(name.node, ScalarNode) and name.node.text == label:
        del inputs["name"]
    del inputs["args"]
    for entry in args.node:
        message = f"`{entry.key}` is under `{args.name.text}`"
        c.noncanonical("strict.spec-input", entry.place, message, "it next to `kind`")
        _take(c, inputs, entry, kind)


def _is_idle(c: Compilation, entry: Entry, kind: Kind) -> bool:
    """Whether a key is one of another runtime that does nothing here, which is said then."""
    if kind.knows(entry.key):
        return False
    remedy = TASK_IDLE.get(entry.key) or (SQL_IDLE.get(entry.key) if kind.sql else None)
    if remedy is not None:
        c.without_effect(entry, remedy)
    return remedy is not None


def _take(
    c: Compilation,
    inputs: dict[str, Entry],
    entry: Entry,
    kind: Kind,
    *,
    also: frozenset[str] = TASK_KEYS,
    may_label: bool = False,
) -> None:
    """Take an input in; `also` are the keys that stand beside inputs here."""
    name = kind.canonical(entry.key)
    # Any task may be given arguments; a kind that has no use for them ignores them.
    if not kind.knows(name) and name not in ARGS_KEYS:
        _report_unknown(c, entry, kind, kind.spellings | also, may_label=may_label)
    if name in inputs:
        other = inputs[name].name.text
        message = f"`{entry.key}` and `{other}` are the same input of {kind.name}"
        c.report("tool.input-twice", entry.place, message, f"Keep `{name}`.")
        return
    if name != entry.key:
        c.noncanonical(
            "strict.input", entry.place, f"the input is called `{entry.key}`", f"`{name}`"
        )
    inputs[name] = made.renamed(entry, name)


def _may_label(form: TaskForm, entry: Entry) -> bool:
    """Whether a key is probably a label whose task is not indented: empty, before the kind."""
    if form.is_on_step or form.kind is None:
        return False
    return is_null(entry.node) and entry.name.begin < form.kind.node.begin


def _report_unknown(
    c: Compilation, entry: Entry, kind: Kind, known: frozenset[str], *, may_label: bool
) -> None:
    what = f"a task of kind {kind.name}"
    if may_label and c.suggestions.near(entry.key, known, TYPO_LIKENESS_MIN) is None:
        message = f"{what} has no key {entry.key!r}; it has no effect"
        c.report("input.unknown", entry.place, message, _LABEL_FORM)
    else:
        c.unknown_key(entry, known, what, is_input=True)


# --- spec ----------------------------------------------------------------------------------------


def _spec_entry(
    entry: Entry | None, spec: MapNode | None, below: list[Entry], form: TaskForm
) -> Entry | None:
    if spec is None or entry is None:
        node: Node = made.mapping(below, form.holder)
        return made.entry("spec", node, form.holder) if below else None
    node = made.with_entries(spec, below)
    return made.renamed(entry, "spec", node) if below or not spec.entries else None


def _settings(
    c: Compilation, form: TaskForm, kind: Kind | None, spec: MapNode | None
) -> Iterator[Entry]:
    """What stands below `spec`: its own settings, the attempt timeout and the rules."""
    beside = next((form.fields[name] for name in TIMEOUT_NAMES if name in form.fields), None)
    is_input = kind is not None and "timeout" in kind.inputs
    policy = _policy(c, form, spec)
    for entry in spec or ():
        is_rewritten = entry.key == "jitter" or (entry.key == "policy" and policy is not entry)
        if (entry.key in TASK_SPEC_KEYS or kind is None) and not is_rewritten:
            yield entry
    if beside is not None and not is_input and (spec is None or "timeout" not in spec):
        message = f"`{beside.key}` is on the task"
        c.noncanonical("strict.place", beside.place, message, _TIMEOUT_FORM)
        yield made.renamed(beside, "timeout")
    if policy is not None and (spec is None or spec.get("policy") is not policy):
        yield policy


def _policy(c: Compilation, form: TaskForm, spec: MapNode | None) -> Entry | None:
    policy = spec.get("policy") if spec is not None else None
    jitter = spec.get("jitter") if spec is not None else None
    retry, evaluation = form.fields.get("retry"), form.fields.get("eval")
    given = [entry for entry in (policy, evaluation, retry) if entry is not None]
    for extra in given[1:]:
        message = f"task {form.label!r} has both `{given[0].key}` and `{extra.key}`"
        c.report("policy.conflict", extra.place, message, "Keep one of them.")
    found = None
    if policy is not None:
        c.uses_policy = True
        found = with_rules(c, policy, jitter)
    elif evaluation is not None:
        found = policy_of_eval(c, evaluation, jitter)
    elif retry is not None:
        has_backoff = spec is not None and "backoff" in spec
        found = policy_of_retry(c, retry, jitter, has_backoff=has_backoff)
    check_jitter(c, jitter, found)
    poll = form.fields.get("poll")
    if poll is not None:
        # Few tasks have it.
        from anew.languages.playbook.desugar.polling import with_poll  # noqa: PLC0415

        found = with_poll(c, found, poll, form.label)
    return found
