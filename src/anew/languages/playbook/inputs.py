"""Gather what a task gives its tool, and report what is missing, doubled or dangerous in it."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, ListNode, MapNode, ScalarNode, is_null, scalars
from anew.languages.playbook.compilation import CodeText, Compilation, ShellText, shown
from anew.languages.playbook.durations import seconds_of
from anew.languages.playbook.keys import TASK_KEYS
from anew.program.kind import Kind, OutcomeSource, is_idempotent
from anew.program.policy import Policy, Retry

# Under these names services take the key that tells a repetition from a new request.
_KEY_HEADERS = frozenset({"idempotency-key", "x-idempotency-key"})
_BESIDE_INPUTS = TASK_KEYS | {"kind"}


def gather_inputs(
    c: Compilation, task: Entry, kind: Kind, *, args: Entry | None
) -> dict[str, Entry]:
    """What a task gives its tool."""
    node = task.node
    assert isinstance(node, MapNode)
    inputs = {key: entry for key, entry in node.entries.items() if key not in _BESIDE_INPUTS}
    if kind.waits_for_others:
        _report_timeout(c, node.get("spec"), kind)
    if args is not None and kind.knows("args") and not kind.is_open:
        inputs["args"] = _merged(inputs.get("args"), args)
    _check_required(c, task, kind, inputs)
    _check_choices(c, kind, inputs)
    _check_values(c, kind, inputs)
    _warn_sql(c, kind, inputs)
    _note_shell_texts(c, kind, inputs)
    _note_script(c, kind, inputs.get("script"))
    if kind.has_names:
        _note_code(c, inputs)
    _check_by_source(c, kind, inputs, task.key)
    if kind.sides or kind.word_inputs:
        # Few documents have a task of such a kind.
        from anew.languages.playbook.sides import check_sides  # noqa: PLC0415

        check_sides(c, kind, inputs)
    return inputs


def _check_by_source(c: Compilation, kind: Kind, inputs: Mapping[str, Entry], label: str) -> None:
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
        case OutcomeSource.STORE:
            from anew.languages.playbook.keeping import check_artifact  # noqa: PLC0415

            check_artifact(c, inputs, label)
        case _:
            pass


def warn_unsafe_retry(
    c: Compilation, task: Entry, kind: Kind, *, inputs: Mapping[str, Entry], policy: Policy
) -> None:
    """Warn where an HTTP request that is not idempotent may be sent again."""
    method = inputs.get(kind.method) if kind.method is not None else None
    if method is None or not isinstance(method.node, ScalarNode) or _has_key(inputs):
        return
    retries = any(isinstance(rule.then, Retry) and rule.then.attempts != 1 for rule in policy.rules)
    if retries and not is_idempotent(method.node.text):
        name = method.node.text.upper()
        message = f"task {task.key!r} retries a {name} request, which may do its work twice"
        c.report("http.retry-unsafe", task.holder, message, "Add `idempotency_key: true`.")


def _has_key(inputs: Mapping[str, Entry]) -> bool:
    """Whether the request says which work it is: by our key, or by a header of the author's."""
    headers = inputs.get("headers")
    sent = headers.node if headers is not None and isinstance(headers.node, MapNode) else ()
    keys = [entry for entry in sent if entry.key.lower() in _KEY_HEADERS]
    return any(_says_something(entry) for entry in [*keys, inputs.get("idempotency_key")])


def _says_something(entry: Entry | None) -> bool:
    return entry is not None and not (
        isinstance(entry.node, ScalarNode) and entry.node.value in (None, False, "")
    )


def _merged(own: Entry | None, shared: Entry) -> Entry:
    """The step's arguments with the task's own laid over them."""
    if own is None:
        return shared
    if not isinstance(own.node, MapNode) or not isinstance(shared.node, MapNode):
        return own
    entries = {**shared.node.entries, **own.node.entries}
    node = MapNode(entries, own.node.span, own.node.begin, own.node.end, own.node.is_flow)
    return Entry(own.key, own.name, node)


def _report_timeout(c: Compilation, spec: Entry | None, kind: Kind) -> None:
    timeout = spec.node.get("timeout") if spec and isinstance(spec.node, MapNode) else None
    if timeout is not None:
        c.ignored(timeout, f"on a task of kind {kind.name}", "Write `timeout` next to `kind`.")


def _check_required(c: Compilation, task: Entry, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    for group in kind.required:
        given = [inputs[name] for name in group if name in inputs]
        if any(not is_null(entry.node) for entry in given):
            continue
        words = " or ".join(f"`{name}`" for name in group)
        place = given[0].place if given else task.holder
        message = f"task {task.key!r} of kind {kind.name} needs {words}"
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
        c.known_step(entry, rule="target.unknown", what="the run restarts at")


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


def _note_script(c: Compilation, kind: Kind, script: Entry | None) -> None:
    """Whether the file is there is for those to say who have a disk to look at."""
    if script is None or kind.script_for is None or not isinstance(script.node, ScalarNode):
        return
    if is_null(script.node) or "://" in script.node.text:
        return
    if not _has_template(script.node):
        c.scripts.append((script.node.text, script.node.span))


def _note_code(c: Compilation, inputs: dict[str, Entry]) -> None:
    """Braces in code are judged once all names of the document are known."""
    libs = inputs.get("libs")
    if libs is not None:
        # Few tasks have them.
        from anew.languages.playbook.code_texts import check_libs  # noqa: PLC0415

        check_libs(c, libs)
        if isinstance(libs.node, ListNode):
            del inputs["libs"]
    code = inputs.get("code")
    if code is not None and isinstance(code.node, ScalarNode) and _has_template(code.node):
        c.codes.append(CodeText(code.node, c.step))


def _has_template(node: ScalarNode) -> bool:
    return isinstance(node.value, str) and ("{{" in node.value or "{%" in node.value)
