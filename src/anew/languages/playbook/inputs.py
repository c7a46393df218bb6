"""Compile what a task gives its tool, under the canonical names of its kind.

Reports what is missing, doubled, unknown or dangerous among the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, ListNode, MapNode, ScalarNode, is_null, scalars
from anew.languages.playbook.compilation import Compilation, ShellText, shown
from anew.languages.playbook.durations import seconds_of
from anew.languages.playbook.forms import TIMEOUT_NAMES, TaskForm
from anew.languages.playbook.names import TYPO_LIKENESS_MIN
from anew.program.kind import Kind, OutcomeSource, is_idempotent
from anew.program.policy import Policy, Retry

SPEC_KEYS = frozenset({"policy", "timeout", "pool", "runs_on"})
# What a task says besides its inputs.
UNSUPPORTED_KEYS: Mapping[str, str] = {
    "case": "`next: {arcs: [{step: …, when: …}]}` and `spec: {policy: {rules: […]}}` on the task",
    # On a step they are run; a task of a pipeline is followed by another task instead.
    "save": "a storage task after this one: `- save: {kind: postgres, …}`",
    "sink": "a storage task after this one: `- save: {kind: postgres, …}`",
    "vars": '`then: {do: continue, set_ctx: {name: "{{ outcome.result.… }}"}}` in a rule',
}
TASK_KEYS = frozenset("spec eval retry set desc description".split())
ARGS_KEYS = ("args", "with", "input")
_LABEL_FORM = "If it is the task's label, indent the lines below it."


def gather_inputs(
    c: Compilation, form: TaskForm, kind: Kind, *, spec: MapNode | None, args: Entry | None
) -> dict[str, Entry]:
    """The task's inputs by their canonical names."""
    inputs: dict[str, Entry] = {}
    for entry in form.fields.values():
        is_input = entry.key not in TASK_KEYS and entry.key not in UNSUPPORTED_KEYS
        if is_input and not _is_timeout(entry, kind):
            _take(c, inputs, entry, kind, may_label=_may_label(form, entry))
    for entry in spec or ():
        if entry.key not in SPEC_KEYS:
            _take_from_spec(c, inputs, entry, kind)
        elif entry.key == "timeout" and kind.waits_for_others:
            c.ignored(entry, f"on a task of kind {kind.name}", "Write `timeout` beside `kind`.")
    if args is not None and kind.knows("args") and not kind.is_open:
        inputs["args"] = _merged(inputs.get("args"), args)
    _check_required(c, form, kind, inputs)
    _check_choices(c, kind, inputs)
    _check_values(c, kind, inputs)
    _warn_sql(c, kind, inputs)
    _note_shell_texts(c, kind, inputs)
    _check_by_source(c, kind, inputs)
    return inputs


def _check_by_source(c: Compilation, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    """What the engine itself asks of the inputs of the kinds it serves."""
    match kind.outcome_from:
        case OutcomeSource.WORKBOOK:
            _check_workbook(c, inputs.get("name"))
        case OutcomeSource.RESTART:
            _check_entry(c, inputs.get("entry"))
        case OutcomeSource.SIGNAL:
            # Few documents wait for one, or ask anything.
            from anew.languages.playbook.awaiting import check_wait  # noqa: PLC0415

            check_wait(c, inputs)
        case OutcomeSource.PERSON:
            from anew.languages.playbook.asking import check_question  # noqa: PLC0415

            check_question(c, inputs)
        case _:
            pass


def warn_unsafe_retry(
    c: Compilation, form: TaskForm, kind: Kind, *, inputs: Mapping[str, Entry], policy: Policy
) -> None:
    """Warn where an HTTP request that is not idempotent may be sent again."""
    method = inputs.get(kind.method) if kind.method is not None else None
    if method is None or not isinstance(method.node, ScalarNode) or _has_key(inputs):
        return
    retries = any(isinstance(rule.then, Retry) and rule.then.attempts != 1 for rule in policy.rules)
    if retries and not is_idempotent(method.node.text):
        name = method.node.text.upper()
        message = f"task {form.label!r} retries a {name} request, which may do its work twice"
        c.report("http.retry-unsafe", form.holder, message, "Add `idempotency_key: true`.")


def _has_key(inputs: Mapping[str, Entry]) -> bool:
    key = inputs.get("idempotency_key")
    return key is not None and not (
        isinstance(key.node, ScalarNode) and key.node.value in (None, False, "")
    )


def _is_timeout(entry: Entry, kind: Kind) -> bool:
    return entry.key in TIMEOUT_NAMES and "timeout" not in kind.inputs and not kind.is_open


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
        other = inputs[name].key
        message = f"`{entry.key}` and `{other}` are the same input of {kind.name}"
        c.report("tool.input-twice", entry.place, message, f"Keep `{name}`.")
        return
    if name != entry.key:
        c.noncanonical(
            "strict.input", entry.place, f"the input is called `{entry.key}`", f"`{name}`"
        )
    inputs[name] = entry


def _may_label(form: TaskForm, entry: Entry) -> bool:
    """Whether a key is probably a label whose task is not indented: empty, before the kind."""
    if form.is_on_step or form.kind is None:
        return False
    return is_null(entry.node) and entry.name.begin < form.kind.begin


def _report_unknown(
    c: Compilation, entry: Entry, kind: Kind, known: frozenset[str], *, may_label: bool
) -> None:
    what = f"a task of kind {kind.name}"
    if may_label and c.suggestions.near(entry.key, known, TYPO_LIKENESS_MIN) is None:
        message = f"{what} has no key {entry.key!r}; it has no effect"
        c.report("key.unknown", entry.place, message, _LABEL_FORM)
    else:
        c.unknown_key(entry, known, what)


def _take_from_spec(c: Compilation, inputs: dict[str, Entry], entry: Entry, kind: Kind) -> None:
    c.noncanonical(
        "strict.spec-input", entry.place, f"`{entry.key}` stands under `spec`", "it beside `kind`"
    )
    if kind.canonical(entry.key) not in inputs:
        _take(c, inputs, entry, kind, also=SPEC_KEYS)


def _merged(own: Entry | None, shared: Entry) -> Entry:
    """The step's arguments with the task's own laid over them."""
    if own is None:
        return shared
    if not isinstance(own.node, MapNode) or not isinstance(shared.node, MapNode):
        return own
    entries = {**shared.node.entries, **own.node.entries}
    node = MapNode(entries, own.node.span, own.node.begin, own.node.end, own.node.is_flow)
    return Entry(own.key, own.name, node)


def _check_required(
    c: Compilation, form: TaskForm, kind: Kind, inputs: Mapping[str, Entry]
) -> None:
    for group in kind.required:
        given = [inputs[name] for name in group if name in inputs]
        if any(not is_null(entry.node) for entry in given):
            continue
        words = " or ".join(f"`{name}`" for name in group)
        place = given[0].place if given else form.holder
        message = f"task {form.label!r} of kind {kind.name} needs {words}"
        c.report("tool.input-missing", place, message, f"Add `{group[0]}: …`.")


def _check_choices(c: Compilation, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    for group in kind.choices:
        named = (inputs[name] for name in group if name in inputs)
        given = [entry for entry in named if not is_null(entry.node)]
        for extra in sorted(given, key=lambda entry: entry.name.begin)[1:]:
            words = ", ".join(f"`{name}`" for name in group)
            message = f"a task of kind {kind.name} takes one of {words}, not several"
            c.report("tool.input-twice", extra.place, message, "Keep one of them.")


def _check_values(c: Compilation, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    for name in kind.texts & inputs.keys():
        node = inputs[name].node
        if not isinstance(node, ScalarNode):
            message = f"`{name}` must be a text; found {shown(node)}, which fails the task"
            c.report("tool.input", node.span, message, f"Write `{name}: …` with one value.")
        elif name == "seconds" and not _has_template(node) and seconds_of(node) is None:
            message = f"`seconds` must be a number from 0 on; found {shown(node)}"
            c.report("tool.input", node.span, f"{message}, which fails the task", "Write `2`.")


def _check_workbook(c: Compilation, name: Entry | None) -> None:
    if name is None or c.workbook is None or not isinstance(name.node, ScalarNode):
        return
    if is_null(name.node) or _has_template(name.node) or name.node.text in c.workbook:
        return
    message = f"the workbook has no task {name.node.text!r}"
    remedy = c.suggestions.remedy(name.node.text, c.workbook)
    if not c.workbook:
        remedy = f"Add `workbook: [{{name: {name.node.text}, tool: {{kind: …}}}}]`."
    c.report("workbook.unknown", name.node.span, message, remedy)


def _check_entry(c: Compilation, entry: Entry | None) -> None:
    if entry is not None and not (isinstance(entry.node, ScalarNode) and _has_template(entry.node)):
        c.known_step(entry, rule="target.unknown", what="the run begins anew at")


def _warn_sql(c: Compilation, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    for name in kind.sql:
        if name not in inputs:
            continue
        for scalar in scalars(inputs[name].node):
            if _has_template(scalar):
                message = (
                    "a template is spliced into SQL text, which lets values change the statement"
                )
                remedy = "Pass the value with `params`, which are bound and never spliced."
                c.report("sql.template", scalar.span, message, remedy)


def _note_shell_texts(c: Compilation, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    """They are judged once it is known which steps and tasks give secrets."""
    for name in kind.shell & inputs.keys():
        node = inputs[name].node
        if any(_has_template(scalar) for scalar in scalars(node)):
            is_words = name in kind.words and isinstance(node, ListNode)
            c.shell_texts.append(ShellText(node, c.step, is_words))


def _has_template(node: ScalarNode) -> bool:
    return isinstance(node.value, str) and ("{{" in node.value or "{%" in node.value)
