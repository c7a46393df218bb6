"""Every rule a check can report: its id, its severity and what it means in one sentence.

One place, so that the reference can list them and no finding can carry an id that is not here.
"""

from __future__ import annotations

from msgspec import Struct

from anew.languages.dot.dot_rules import LINT_RULES, PARSE_RULES
from anew.program.check import PROGRAM_RULES
from anew.program.findings import Finding, Severity
from anew.program.span import Span


class RuleText(Struct, frozen=True):
    severity: Severity
    summary: str


_YAML_ERRORS = {
    "yaml.syntax": "The text is not valid YAML.",
    "yaml.encoding": "The file is not UTF-8 text, or holds characters that are not text.",
    "yaml.size": "The document is larger than 1 MiB.",
    "yaml.depth": "Values are nested deeper than 100 levels.",
    "yaml.aliases": "Aliases are used too often or expand to too much.",
    "yaml.alias": "An alias refers to nothing that was defined before it.",
    "yaml.several": "The file holds more than one document.",
    "yaml.duplicate-key": "A mapping has the same key twice.",
    "yaml.key": "A key is a collection, or an unquoted template was read as one.",
    "yaml.merge": "Merge keys (`<<`) are not supported.",
    "yaml.tag": "A tag asks for a type that JSON does not have, or does not fit its value.",
}
_FILE_ERRORS = {
    "file.unreadable": "The file cannot be read.",
    "language.unsupported": "The document is written in a language that is not supported.",
}
_ERRORS = {
    "document.empty": "The document is empty.",
    "document.shape": "The document is not a mapping.",
    "value.type": "A value has the wrong type.",
    "workflow.missing": "The playbook has no `workflow`.",
    "workflow.empty": "The `workflow` has no steps.",
    "step.name": "A step has no name.",
    "step.duplicate": "Two steps have the same name.",
    "step.when": "`when` is on a step whose tasks use `spec.policy`.",
    "step.join": "The `join` word is unknown.",
    "step.pool": "The tasks of a step ask for several pools; one worker runs them all.",
    "vars.root": "Root `vars` is in a playbook that has `ctx`, or whose tasks use `spec.policy`.",
    "entry.unknown": "`executor.spec.entry_step` names a step that does not exist.",
    "return.unknown": "`executor.spec.return_step` names a step that does not exist.",
    "limit.value": "A limit is not a whole number of at least 1.",
    "guard.rule": "A rule of `dependencies` has an unknown key or a value that is none.",
    "guard.priority": "A `priority` is not a whole number.",
    "guard.timeout": "A `hold_timeout` is not a duration above 0.",
    "failure.mode": "The failure mode is unknown.",
    "arc.unknown-step": "An arc leads to a step that does not exist.",
    "arc.step-missing": "An arc does not say which step it leads to.",
    "set.iter": "The `set` of a step or arc writes `iter`, which has ended with its iteration.",
    "set.name": "A `set` writes a reserved name, or a name in a scope that no `set` writes.",
    "set.twice": "A `set` writes the same name twice.",
    "next.shape": "`next` is neither a name, a list nor a router with `arcs`.",
    "next.mode": "The routing mode is unknown.",
    "next.fork-join": "The branches of a split have no step at which they all meet.",
    "next.max-in-flight": "`max_in_flight` of a split is not a whole number of at least 1.",
    "arc.most": "`most` of an arc is not a whole number of at least 1.",
    "arc.weight": "`weight` of an arc is not a whole number.",
    "target.unknown": "A way for failures, retries, gates or branches names an unknown step.",
    "join.k": "`join: k_of_n` does not say how many branches have to succeed.",
    "gate.accepts": "A gate accepts no verdict, or a word that is none.",
    "gate.budget": "The `budget` word of a gate is unknown.",
    "gate.most": "`most` of a gate is not a whole number of at least 1.",
    "ctx.start": "The word for what `ctx` starts with is unknown.",
    "human.choices": "`choices` is neither a list of texts nor a template.",
    "human.timeout-action": "The `timeout_action` word is unknown.",
    "loop.in-missing": "A `loop` has no `in`.",
    "loop.iterator-missing": "A `loop` has no `iterator`.",
    "loop.mode": "The loop mode is unknown.",
    "loop.max-in-flight": "`max_in_flight` is not a whole number of at least 1.",
    "tool.shape": "A `tool` has a form that is not known.",
    "tool.kind-missing": "A tool has no `kind`.",
    "tool.kind": "The tool kind is unknown.",
    "tool.input-missing": "A required input of a tool is missing.",
    "tool.input-twice": "An input is given under two names, or two inputs exclude each other.",
    "artifact.put": "An artifact that is put names a version.",
    "script.source": "A `script` is neither a file nor one of a source that can be read.",
    "tool.input-word": "An input is none of the words it can be.",
    "tool.exactly-once": "`exactly_once` where changes cannot be recorded with those of the task.",
    "tool.timeout": "A timeout is neither seconds nor a mapping of them.",
    "task.duplicate": "Two tasks of a step have the same label.",
    "policy.shape": "A task's `policy` is not an object with `rules`.",
    "policy.conflict": "A task says in two ways what to do with its outcome.",
    "policy.misplaced": "A task directive is in the policy of a step, loop or router.",
    "policy.unmatched-word": "The `on_unmatched` word is unknown.",
    "rule.shape": "A rule is not a mapping of `when` and `then`, or of `else`.",
    "rule.then-missing": "A rule does not say what to do.",
    "rule.do": "The `do` word is unknown.",
    "rule.jump-to-missing": "A `jump` has no `to`.",
    "rule.jump-unknown": "A `jump` leads to a label that the step does not have.",
    "rule.attempts": "`attempts` is below 1.",
    "rule.verdict": "The `verdict` word is unknown, or is not one to continue with.",
    "rule.budget": "The `budget` word of a retry is unknown.",
    "rule.backoff": "The `backoff` word is unknown.",
    "rule.jitter": "The `jitter` value is unknown.",
    "paginate.shape": "`paginate` does not say how pages follow each other, or where they end.",
    "poll.shape": "`poll` does not say what it waits for, or how often it asks.",
    "backoff.shape": "The `backoff` of a task is not a mapping of error kinds, or a row is empty.",
    "backoff.kind": "The `backoff` of a task names a kind of error that does not exist.",
    "rule.multiplier": "A backoff multiplier is not a number above 0.",
    "rule.on-exhausted": "`on_exhausted` asks for something that cannot follow spent attempts.",
    "admit.rule": "An admission rule does not say `allow: true` or `allow: false`.",
    "expression.syntax": "A template or condition cannot be parsed.",
    "key.unknown": "A key is not known here, where keys decide what is run and what is written.",
    "workbook.unknown": "A `workbook` task names an entry that does not exist.",
    "workbook.duplicate": "Two workbook tasks have the same name.",
    "save.storage": "A `save` block does not say where to store, or names an unknown storage.",
    "save.table": "A `save` block has no table or statement, or a table that is not a plain name.",
    "save.data": "A save into a table has no columns, or one that is not a plain name.",
    "save.mode": "The `mode` word of a `save` block is unknown.",
    "save.key": "The `key` of a `save` block is missing, unknown or all it has.",
    "code.template": "Python code contains a template, which is never rendered there.",
    "dialect.unsupported": "An older form that is not run; the suggestion shows today's.",
}
_WARNINGS = {
    "loop.in": "A loop's `in` can never be a list, so the step will fail.",
    "rule.attempts-type": "`attempts` is not a whole number, so the task will fail.",
    "rule.delay": "A delay is not a number of seconds or a duration, so the task will fail.",
    "script.missing": "A `script` file is neither next to the document nor in this folder.",
    "input.unknown": "A tool has no such input, or a document no such section; it has no effect.",
    "key.unused": "A key has no effect together with another one.",
    "condition.empty": "A condition is empty, so it never holds.",
    "keychain.name": "A credential of the keychain has no name, so nothing can use it.",
    "loop.iterator": "An `iterator` cannot be read below `iter`.",
    "tool.input": "An input has a value its tool cannot use, so the task will fail.",
    "workload.text": "A default of `workload` holds a template that is not rendered.",
    "name.unknown": "An expression reads a name that nothing provides: one much like another that "
    "exists, or any in a condition.",
    "name.reserved": "A name is hidden: by a reserved name, or one that a `set` writes by a label.",
    "name.scope": "An expression reads a name that does not exist at this place.",
    "event.word": "`event.name` is compared with a word that no event of the step has.",
    "outcome.key": "An outcome or event has no such key, so it would be undefined.",
    "outcome.word": "The status or the error's kind is compared with a word that it never is.",
    "retry.always": "`retry_when` always holds, so that a success is executed again as well.",
    "backoff.default": "The `backoff` of a task has no `default`, so other errors wait not at all.",
    "policy.error-uncovered": "No rule covers an error outcome, so the pipeline would continue.",
    "http.retry-unsafe": "A request that is not idempotent is retried without `idempotency_key`.",
    "code.braces": "A text of Python code looks like a template, and stays as it is.",
    "sql.template": "SQL text contains a template; `params` are bound safely.",
    "shell.template": "A value becomes part of a shell command; use `env`, or `shquote`.",
    "shell.secret": "A secret is in the text of a command, where `ps` shows it; use `env`.",
}
_NOTES = {
    "name.unprovided": "An expression reads a name that only the request can provide.",
    "outcome.message-text": "A condition looks for words in a message; `error.kind` is stable.",
    "key.without-effect": "A key of another runtime is accepted and has no effect.",
}
_STRICT = {
    "strict.tool-string": "The tool is a string with its inputs on the step.",
    "strict.tool-missing": "The step has no `tool`.",
    "strict.task-form": "A task is not written as `label: {kind, …}`.",
    "strict.next": "`next` is not a router with `arcs`.",
    "strict.arc": "An arc is not written as `{step, when, args}`.",
    "strict.retry": "A `retry` block is used instead of `spec.policy.rules`.",
    "strict.eval": "`eval` is used instead of `spec.policy.rules`.",
    "strict.output": "The words of the `output` dialect are used.",
    "strict.rule": "A rule is not written as `{when, then}` or `{else: {then}}`.",
    "strict.set": "A rule uses `set`, or a `set` does not say its target in the key.",
    "strict.input": "An input is given under an alias.",
    "strict.spec-input": "An input is under `spec` or `args`.",
    "strict.raw": "A shell command holds a template of another program without `{% raw %}`.",
    "strict.shell": "A document for NoETL's local profile means bash, and does not say so.",
    "strict.script": "A `script` is written as `{uri, source}` where a file or a text would do.",
    "strict.place": "A setting is outside the `spec` it belongs to.",
    "strict.step-when": "A step's `when` is used instead of an admission rule.",
    "strict.vars": "`vars` is used instead of `ctx`, at the root or in an expression.",
    "strict.case": "A `case` block is used instead of arcs and rules.",
    "strict.save": "A `save` block is used instead of a storage task.",
    "strict.workbook": "The workbook is not a list of `{name, tool}`.",
    "strict.keychain": "The keychain is not a list of `{name, …}`.",
}
_MIGRATE = {
    "migrate.kept": "A form has no canonical spelling with the same meaning and was left as it is.",
    "migrate.differs": "Something means another thing, or nothing, in the language it is put into.",
}

RULES: dict[str, RuleText] = {
    rule: RuleText(severity, text)
    for severity, texts in (
        (Severity.ERROR, _FILE_ERRORS | _YAML_ERRORS | _ERRORS),
        (Severity.WARNING, _WARNINGS | _STRICT | _MIGRATE | PROGRAM_RULES),
        (Severity.INFO, _NOTES),
    )
    for rule, text in texts.items()
}
DOT_RULES: dict[str, RuleText] = {
    rule: RuleText(severity, text) for rule, (severity, text) in (PARSE_RULES | LINT_RULES).items()
}
RULES |= DOT_RULES


def finding(rule: str, place: Span, message: str, suggestion: str | None = None) -> Finding:
    """A finding of a known rule, with the severity the table gives it."""
    return Finding(RULES[rule].severity, rule, message, place, suggestion)
