"""The documentation is complete and true: what it lists exists, what it shows was run.

Console blocks with `$ anew …`, blocks under `<!-- file: … -->` and whatever stands between
`<!-- generated: … -->` and `<!-- end -->` follow the code. After a change that is meant to alter
them, rewrite them with

    ANEW_UPDATE_DOCS=1 python -m pytest tests/test_docs.py -p no:xdist

and read the difference before committing it.
"""

from __future__ import annotations

import inspect
import json
import os
import pkgutil
import re
from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from textwrap import indent

import msgspec
import pytest

import anew
from anew.engine.events import EVENTS, Fact
from anew.engine.fold import fold
from anew.engine.outcome import RETRYABLE
from anew.engine.state import RunStatus, StepRunStatus
from anew.expressions import MappingScope, compile_template
from anew.expressions.filters import FILTERS
from anew.expressions.functions import FUNCTIONS
from anew.expressions.limits import DEFAULT_LIMITS
from anew.expressions.methods import METHOD_NAMES, methods_named
from anew.expressions.predicates import PREDICATES
from anew.expressions.signature import Callee
from anew.lab import expectations, scenario, script, simulate
from anew.lab.server.routes import ROUTES
from anew.languages import load_text
from anew.languages import playbook as front_end
from anew.languages.dot import vocabulary
from anew.languages.dot.delays import DOCS_PRESETS, SPEC_PRESETS
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.node_types import ALIASES, SHAPES, TYPES
from anew.languages.playbook import loops
from anew.languages.playbook.durations import JITTER_WORDS
from anew.languages.rules import RULES
from anew.program import program as model
from anew.program.findings import Severity
from anew.program.kinds import FIDELITIES, HELPERS, KINDS
from anew.program.names import RESERVED, RETRY_WORDS
from anew.program.policy import DirectiveKind, OutcomeStatus
from anew.program.retry import BackoffKind
from anew.store import Archive, Catalog, Commit, Database, Notices, Store, Vault
from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.endpoint import Endpoint
from anew.surfaces.api.openapi import description
from anew.surfaces.cli import status
from anew.surfaces.cli.command_table import COMMANDS, Command
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.run_filters import add_filter_options
from anew.views.actions import actions
from anew.views.nodes import ALIASES as NODE_WORDS
from anew.views.report import report
from tests.console import Terminal, alike, masked, played
from tests.pages import (
    BLOCK,
    EXAMPLES,
    GENERATED,
    GENERATORS,
    LINK,
    PAGES,
    PROJECT_PAGES,
    ROOT,
    WORD,
    anchor,
    anchors,
    blocks,
    is_typed,
    listed,
    missing,
    of,
    relative,
    row_of,
    rows,
    section,
    text,
    updated,
)
from tests.suites import mostly_long

IS_UPDATING = os.environ.get("ANEW_UPDATE_DOCS") == "1"
REFERENCE = ROOT / "docs/reference"
LIMIT_NAME = re.compile(r"[A-Z]\w*_MAX")


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")


# --- what the pages show --------------------------------------------------------------------------


TYPED = [page for page in PROJECT_PAGES if is_typed(page)]


@pytest.mark.parametrize("page", TYPED, ids=of)
def test_what_a_page_takes_from_files_and_from_the_code_is_there(page: Path) -> None:
    if not IS_UPDATING:
        shown = page.read_text(encoding="utf-8")
        assert shown == updated(page, is_played=False)


@pytest.mark.parametrize(
    "page",
    [*(page for page in PROJECT_PAGES if page not in TYPED), *mostly_long(TYPED)],
    ids=of,
)
def test_what_a_page_shows_is_what_happens(page: Path) -> None:
    true = updated(page)
    if IS_UPDATING and page.read_text(encoding="utf-8") != true:
        page.write_text(true, encoding="utf-8")
        text.cache_clear()
        section.cache_clear()
    shown = page.read_text(encoding="utf-8")
    assert shown == true, difference(masked(shown), masked(true)) or difference(shown, true)


def difference(shown: str, happened: str) -> str:
    lines = unified_diff(
        shown.splitlines(), happened.splitlines(), "shown", "happened", lineterm="", n=1
    )
    return "\n".join(lines)


def test_console_blocks_are_really_run(tmp_path: Path) -> None:
    assert played("$ anew check nothing\nold\n$ echo $?\n").endswith("$ echo $?\n2\n")
    with Terminal(tmp_path) as terminal:
        block = "$ false\nold\n$ echo $?\n$ pwd\n$ anew runs\n$ echo $?\n"
        told = terminal.played(block).splitlines()
    assert told[:5] == ["$ false", "$ echo $?", "1", "$ pwd", "/srv/flows"]
    assert "does not exist" in told[6]
    assert told[7:] == ["$ echo $?", "4"]


@pytest.mark.parametrize(
    ("shown", "happened"),
    [
        ("12:00:01  fetch: done after 2.4 s", "09:10:11  fetch: done after 0.105 s"),
        ("run 380314437606948864  Done in 2.5 s", "run 380314437606948999  Done in 1 min 3 s"),
        ("a     ██✗░░░░░░░░░░░░░░░░░░█  done", "a     █✗░░░░░░░░░░░░░░░░░░░░░█  done"),
        ("a     █                       ██  done", "a     █                        █  done"),
        ("    0.353  fetch  step done", "   10.411  fetch  step done"),
    ],
)
def test_a_page_may_tell_another_time(shown: str, happened: str) -> None:
    assert alike(shown, happened)


@pytest.mark.parametrize(
    ("shown", "happened"),
    [
        ("will retry after 0.50 s (attempt 2/6)", "will retry after 0.60 s (attempt 2/6)"),
        ("error · retry in 1.0 s", "error · retry in 4.0 s"),
        ("fetch: done after 2.4 s", "fetch: failed after 2.4 s"),
        ("a     ██✗░░░░░░░░░░░░░░░░░░█  done", "a     ██✗░░░░░░░░░░░░░░░░░░█  failed"),
    ],
)
def test_a_page_may_not_tell_another_story(shown: str, happened: str) -> None:
    assert not alike(shown, happened)


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_every_whole_playbook_on_a_page_can_be_run(page: Path) -> None:
    starts = ("workflow:", "apiVersion:", "metadata:")
    for block in blocks(page):
        lines = [line for line in block.body.splitlines() if line and not line.startswith("#")]
        is_whole = block.language == "yaml" and lines and lines[0].startswith(starts)
        if is_whole and "broken" not in block.note:
            assert errors_in(block.body, relative(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_every_whole_graph_on_a_page_can_be_run(page: Path) -> None:
    for block in blocks(page):
        is_whole = block.language == "dot" and block.body.startswith("digraph")
        if is_whole and "broken" not in block.note:
            assert errors_in(block.body, relative(page.with_suffix(".dot"))) == []


def errors_in(playbook: str, name: str) -> list[str]:
    found = load_text(playbook, name).findings
    return [str(finding) for finding in found if finding.severity is Severity.ERROR]


def test_an_excerpt_is_part_of_its_file() -> None:
    excerpts = [block for page in PAGES for block in blocks(page) if block.note.startswith("part")]
    assert excerpts
    for block in excerpts:
        whole = (ROOT / block.note.removeprefix("part of: ")).read_text(encoding="utf-8")
        depths = range(0, 24, 2)
        assert any(indent(block.body, " " * depth) in whole for depth in depths), block.body


@pytest.mark.parametrize("example", EXAMPLES, ids=of)
def test_an_example_of_the_docs_is_right_and_shown(example: Path) -> None:
    plays = example.name.endswith((".script.yaml", ".scenario.yaml"))
    if not plays and "broken" not in example.name:
        assert errors_in(text(example), example.name) == []
    commands = [
        line
        for page in PAGES
        for block in blocks(page)
        for line in block.body.splitlines()
        if line.startswith("$ anew ")
    ]
    assert any(relative(example) in command for command in commands)


@pytest.mark.parametrize("page", PROJECT_PAGES, ids=of)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = BLOCK.sub("", text(page))
    for link in LINK.finditer(prose):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        assert target.exists(), f"{relative(page)}: {link[0]}"
        if link["anchor"]:
            assert link["anchor"][1:] in anchors(target), f"{relative(page)}: {link[0]}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "index.md"], ids=of)
def test_every_page_is_reached_from_the_index(page: Path) -> None:
    index = ROOT / "docs/index.md"
    linked = {(index.parent / link["path"]).resolve() for link in LINK.finditer(text(index))}
    assert page in linked


def test_every_generated_part_has_its_place() -> None:
    used = [found["name"] for page in PAGES for found in GENERATED.finditer(text(page))]
    assert sorted(used) == sorted(GENERATORS)


# --- the reference is complete -------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_listed_with_its_severity(rule: str) -> None:
    page = text(REFERENCE / "check-rules.md")
    assert f"| `{rule}` | {RULES[rule].severity} |" in page


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_listed_with_all_its_data(name: str) -> None:
    kind = EVENTS[name]
    place = {field.name for field in msgspec.structs.fields(Fact)}
    data = {field.name for field in msgspec.structs.fields(kind)} - place
    assert listed(REFERENCE / "events.md", f"`{name}`") == data


def test_the_columns_of_the_log_are_listed() -> None:
    rows_of_log = simulate.simulate(a_program(), script.Script()).report()["events"]
    assert missing(rows_of_log[0], REFERENCE / "events.md", "One row per event") == []


def test_the_action_names_are_listed() -> None:
    page = section(REFERENCE / "events.md", "Action names")
    source = inspect.getsource(import_module(actions.__module__))
    assert set(re.findall(r'return "(\w+)", \{', source)) <= set(WORD.findall(page))


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        (RunStatus, "States of a run"),
        (StepRunStatus, "States of a step-run"),
        (OutcomeStatus, "The outcome"),
    ],
)
def test_every_status_is_explained(words: type[StrEnum], heading: str) -> None:
    assert missing(words, REFERENCE / "events.md", heading) == []


@pytest.mark.parametrize(
    ("callees", "heading"),
    [(FILTERS, "Filters"), (PREDICATES, "Tests"), (FUNCTIONS, "Functions")],
)
def test_every_operation_is_listed_with_its_arguments(
    callees: dict[str, Callee], heading: str
) -> None:
    for name, callee in callees.items():
        line = row_of(REFERENCE / "expressions.md", heading, name)
        assert [argument for argument in arguments_of(callee) if argument not in line] == [], name


def test_every_method_is_listed_with_its_arguments() -> None:
    for name in METHOD_NAMES:
        line = row_of(REFERENCE / "expressions.md", "Methods", name)
        for callee in methods_named(name):
            assert [word for word in arguments_of(callee)[:1] if f"`{word}" not in line] == [], name


def arguments_of(callee: Callee) -> list[str]:
    return list(inspect.signature(callee.call).parameters)[callee.leading :]


@pytest.mark.parametrize("kind", RETRYABLE)
def test_an_error_kind_is_listed_with_its_answer(kind: str) -> None:
    answer = {True: "yes", False: "no", None: "null"}[RETRYABLE[kind]]
    assert row_of(REFERENCE / "tools.md", "Error kinds", kind).endswith(f"| {answer} |")


def test_every_tool_and_helper_is_listed() -> None:
    assert missing(KINDS, REFERENCE / "tools.md", "Kinds") == []
    assert missing(HELPERS, REFERENCE / "tools.md", "Helpers") == []
    for kind in KINDS.values():
        page = REFERENCE / "tools" / f"{kind.name}.md"
        own = (page, "Inputs") if page.exists() else (REFERENCE / "tools.md", f"`{kind.name}`")
        assert kind.inputs.keys() <= set(WORD.findall(section(*own))), kind.name


# Where playbook.md explains the keys of each table of the front end.
KEY_TABLES = {
    "keys.ROOT_KEYS": "The document",
    "keys.EXECUTOR_KEYS": "`executor`",
    "keys.EXECUTOR_SPEC_KEYS": "`executor`",
    "keys.STEP_KEYS": "A step",
    "keys.STEP_SET_KEYS": "A step",
    "keys.ARGS_KEYS": "A step",
    "keys.STEP_SPEC_KEYS": "`spec` of a step",
    "keys.STEP_POLICY_KEYS": "`spec` of a step",
    "keys.LIFECYCLE_KEYS": "`spec` of a step",
    "keys.ADMIT_KEYS": "Admission",
    "keys.ADMIT_RULE_KEYS": "Admission",
    "keys.LOOP_KEYS": "`loop`",
    "keys.LOOP_SPEC_KEYS": "`loop`",
    "keys.ROUTER_KEYS": "`next`",
    "keys.ROUTER_SPEC_KEYS": "`next`",
    "keys.BRANCH_KEYS": "Older branches",
    "keys.CASE_BRANCH_KEYS": "Older branches",
    "keys.ARC_KEYS": "An arc",
    "keys.ARC_SET_KEYS": "An arc",
    "keys.ARC_ARGS_KEYS": "An arc",
    "keys.PREFERRED_ARC_KEYS": "An arc",
    "keys.JOIN_KEYS": "Parallel branches",
    "keys.GATE_KEYS": "Gates and exits",
    "keys.TASK_KEYS": "A task",
    "keys.TASK_SET_KEYS": "A task",
    "keys.PAGINATE_KEYS": "`paginate`",
    "keys.POLL_KEYS": "`poll`",
    "keys.TASK_SPEC_KEYS": "`spec` of a task",
    "keys.TASK_POLICY_KEYS": "`policy` of a task",
    "keys.BACKOFF_ROW_KEYS": "Delays by kind of error",
    "keys.RULE_KEYS": "A rule",
    "keys.RULE_ABOUT_KEYS": "A rule",
    "keys.DIRECTIVE_KEYS": "What a rule does",
    "keys.PATCH_KEYS": "What a rule does",
    "desugar.retries.RETRY_KEYS": "The `retry` block",
    "desugar.retry_words.OLDER_RETRY_KEYS": "The `retry` block",
    "keys.UNSUPPORTED_KEYS": "Older forms that are refused",
}


def key_tables() -> Iterator[tuple[str, Iterable[str]]]:
    prefix = f"{front_end.__name__}."
    for module in pkgutil.walk_packages(front_end.__path__, prefix):
        loaded = import_module(module.name)
        for name, value in vars(loaded).items():
            is_own = re.search(rf"^{name}(:.*)? = ", inspect.getsource(loaded), re.M)
            if name.endswith("_KEYS") and is_own:
                yield f"{module.name.removeprefix(prefix)}.{name}", value


@pytest.mark.parametrize(("name", "keys"), list(key_tables()))
def test_every_accepted_key_is_explained(name: str, keys: Iterable[str]) -> None:
    assert name in KEY_TABLES, f"say in KEY_TABLES where playbook.md explains {name}"
    assert missing(keys, REFERENCE / "playbook.md", KEY_TABLES[name]) == []


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        (DirectiveKind, "Directives"),
        (BackoffKind, "How long a retry waits"),
        (JITTER_WORDS, "How long a retry waits"),
        (model.Dialect, "The four dialects"),
        (RESERVED, "Names a template reads"),
        (RETRY_WORDS, "Names a template reads"),
    ],
)
def test_every_word_is_explained(words: Iterable[str], heading: str) -> None:
    assert missing(words, REFERENCE / "playbook.md", heading) == []


@pytest.mark.parametrize(
    ("words", "heading"),
    [(DirectiveKind, "Directives"), (BackoffKind, "How long a retry waits")],
)
def test_a_word_means_what_its_enum_says(
    words: Iterable[DirectiveKind | BackoffKind], heading: str
) -> None:
    text = section(REFERENCE / "playbook.md", heading)
    assert [each for each in words if f"| `{each}` | {each.meaning} |" not in text] == []


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        (model.LoopMode, "`loop`"),
        (model.RouteMode, "`next`"),
        (model.Join, "`spec` of a step"),
        (model.FailureMode, "Failure of a step"),
    ],
)
def test_every_mode_is_explained(words: type[StrEnum], heading: str) -> None:
    assert set(words) <= set(WORD.findall(section(REFERENCE / "playbook.md", heading)))


def limits() -> Iterator[tuple[str, float | None]]:
    """Every named limit with its default: the public `…_MAX` of all modules, and the settable ones."""
    yield "max_in_flight", loops.MAX_IN_FLIGHT_DEFAULT
    for module in pkgutil.walk_packages(anew.__path__, "anew."):
        if not module.name.endswith("__main__"):
            loaded = vars(import_module(module.name))
            yield from ((name, loaded[name]) for name in loaded if LIMIT_NAME.fullmatch(name))
    yield from msgspec.structs.asdict(model.Limits()).items()
    yield from msgspec.structs.asdict(DEFAULT_LIMITS).items()


@pytest.mark.parametrize(("name", "default"), sorted(set(limits())))
def test_a_limit_is_listed_with_its_default(name: str, default: float | None) -> None:
    assert f" {shown_limit(default)} " in row_of(REFERENCE / "limits.md", "Limits", name)


def shown_limit(default: float | None) -> str:
    if default is None:
        return "none"
    return f"{int(default):,}" if default == int(default) else str(default)


def test_only_limits_that_exist_are_listed() -> None:
    assert listed(REFERENCE / "limits.md", "Limits") <= {name for name, _ in limits()}


def settings() -> set[str]:
    """Every environment variable of ours that the code reads, or sets for others."""
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"\bANEW_[A-Z_]+", source))
        found |= {f"ANEW_{name}" for name in re.findall(r'_setting\(\s*"([A-Z_]+)"', source)}
    return found


@pytest.mark.parametrize("variable", sorted(settings()))
def test_an_environment_variable_is_explained(variable: str) -> None:
    assert f"`{variable}`" in text(REFERENCE / "settings.md")


def test_only_variables_that_exist_are_explained() -> None:
    told = re.findall(r"`(ANEW_[A-Z_]+)`", text(REFERENCE / "settings.md"))
    assert set(told) == settings()


def test_the_examples_of_expressions_are_true() -> None:
    told = section(REFERENCE / "expressions.md", "Examples")
    names = MappingScope({"ctx": json.loads(WORD.findall(told)[1])})
    lines = [line for line in told.splitlines() if line.startswith("| `")]
    assert lines
    for line in lines:
        template, value = WORD.findall(line.replace("\\|", "|"))
        assert compile_template(template).value(names) == json.loads(value), template


@pytest.mark.parametrize(
    ("keys", "heading"),
    [
        (vocabulary.GRAPH, "Graph attributes"),
        (vocabulary.NODES[DotDialect.DOCS], "Node attributes"),
        (vocabulary.NODES[DotDialect.SPEC], "Node attributes"),
        (vocabulary.EDGE, "Edge attributes"),
        (TYPES, "Shapes and types"),
        (ALIASES, "Shapes and types"),
        (FIDELITIES, "Fidelity and threads"),
    ],
)
def test_every_word_of_graphs_is_listed(keys: Iterable[str], heading: str) -> None:
    # The same attribute for each kind of error is one row.
    listed = {re.sub(rf"\.({'|'.join(RETRYABLE)})$", ".KIND", key) for key in keys}
    assert missing(listed, REFERENCE / "graphs.md", heading) == []


@pytest.mark.parametrize("dialect", DotDialect)
def test_every_shape_of_graphs_is_listed(dialect: DotDialect) -> None:
    assert set(SHAPES[dialect]) <= set(
        WORD.findall(section(REFERENCE / "graphs.md", "Shapes and types"))
    )


@pytest.mark.parametrize(("dialect", "presets"), [("docs", DOCS_PRESETS), ("spec", SPEC_PRESETS)])
def test_every_preset_of_graphs_is_listed(dialect: str, presets: Iterable[str]) -> None:
    told = section(REFERENCE / "graphs.md", "Retries")
    assert [name for name in presets if f"| {dialect} | `{name}` |" not in told] == []


def test_the_words_of_graphs_are_listed() -> None:
    assert missing(NODE_WORDS, REFERENCE / "events.md", "Graph names") == []
    told = section(REFERENCE / "events.md", "Graph names")
    assert set(NODE_WORDS.values()) <= set(WORD.findall(told))


# Where cli.md explains options that many commands have, and who adds them to a command.
SHARED_OPTIONS = {
    "Options for where the runs are": add_place_options,
    "Options for which runs": add_filter_options,
}


class _Captured(Exception):
    pass


def arguments(command: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[Action]:
    """What a command declares, that of its actions included."""

    def capture(parser: ArgumentParser, *_words: object) -> None:
        raise _Captured(parser)

    monkeypatch.setattr(ArgumentParser, "parse_known_args", capture)
    with pytest.raises(_Captured) as caught:
        import_module(command.module).run([])
    for action in caught.value.args[0]._actions:
        yield action
        if isinstance(action, _SubParsersAction):
            yield from (inner for one in action.choices.values() for inner in one._actions)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.word)
def test_every_option_of_a_command_is_explained(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = f"`anew {command.word}`"
    told = section(REFERENCE / "cli.md", heading)
    linked = [shared for shared in SHARED_OPTIONS if f"(#{anchor(shared)})" in told]
    words = WORD.findall(told + "".join(section(REFERENCE / "cli.md", one) for one in linked))
    declared: set[str] = set()
    for action in arguments(command, monkeypatch):
        declared |= set(action.option_strings or [action.metavar or action.dest.upper()])
        assert set(action.choices or ()) <= set(words)
    assert listed(REFERENCE / "cli.md", heading) == declared


@pytest.mark.parametrize("heading", SHARED_OPTIONS)
def test_every_option_of_many_commands_is_explained(heading: str) -> None:
    parser = ArgumentParser(add_help=False)
    SHARED_OPTIONS[heading](parser)
    declared = {option for action in parser._actions for option in action.option_strings}
    assert listed(REFERENCE / "cli.md", heading) == declared
    link = f"(#{anchor(heading)})"
    rows_to_it = [row for row in rows(REFERENCE / "cli.md", "Commands") if link in row.line]
    assert rows_to_it
    assert all(set(row.names) == declared for row in rows_to_it)


def test_every_exit_status_is_explained() -> None:
    numbers = {str(value) for name, value in vars(status).items() if name.isupper()}
    assert missing(numbers, REFERENCE / "cli.md", "Exit status") == []


def test_the_json_of_runs_is_explained() -> None:
    simulated = simulate.simulate(a_program(), script.Script())
    told = report(a_program(), simulated.log, fold(simulated.log), now=0)
    assert missing(told, REFERENCE / "cli.md", "The JSON of a run") == []
    words = WORD.findall(section(REFERENCE / "cli.md", "The JSON of a run"))
    assert set(told["steps"]["only"]) <= set(words)


def test_every_method_and_field_of_a_store_is_listed() -> None:
    page = REFERENCE / "store.md"
    for protocol in (Store, Archive, Catalog, Vault, Notices, Database):
        methods = {name for name in vars(protocol) if not name.startswith("_")}
        assert methods <= set(WORD.findall(row_of(page, "The protocols", protocol.__name__)))
    fields = [field.name for field in msgspec.structs.fields(Commit)]
    assert missing(fields, page, "`Commit`") == []


def test_every_path_of_the_lab_server_is_listed() -> None:
    listed_paths = listed(ROOT / "docs/how-to/lab-server.md", "What it answers")
    for route in ROUTES[1:]:
        assert any(path.split("/{")[0] == route.path for path in listed_paths), route.path


# Where http-api.md tells what requests say that have words of their own.
ALIASED = {"noetl": "For clients of NoETL", "attractor": "For clients of DOT engines"}


def test_every_path_of_the_http_api_is_listed() -> None:
    lines = {line for line in text(REFERENCE / "http-api.md").splitlines() if line.startswith("| ")}
    for path, methods in description(ENDPOINTS)["paths"].items():
        for method in methods:
            start = f"| {method.upper()} | `{path}` |"
            assert any(line.startswith(start) for line in lines), f"{method} {path}"


@pytest.mark.parametrize("route", ENDPOINTS, ids=lambda row: f"{row.method} {row.path}")
def test_what_a_request_may_say_is_explained(route: Endpoint) -> None:
    page = REFERENCE / "http-api.md"
    told = section(page, ALIASED[route.tag]) if route.tag in ALIASED else text(page)
    known = set(WORD.findall(BLOCK.sub("", told)))
    for kind in (route.body, route.query):
        if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
            continue  # any JSON, or nothing
        names = {field.encode_name for field in msgspec.structs.fields(kind)}
        assert names <= known, names - known


def test_every_figure_of_a_server_is_listed() -> None:
    source = inspect.getsource(import_module("anew.surfaces.api.metrics"))
    names = re.findall(r'_(?:counter|gauge)\(\s*"(\w+)"', source)
    assert names
    told = listed(REFERENCE / "http-api.md", "Figures")
    assert {name for name in names if not any(name in word for word in told)} == set()


def test_scripts_and_reports_are_explained() -> None:
    page = REFERENCE / "simulate.md"
    assert missing(script._KEYS, page, "The script") == []
    assert set(script._SIGNAL_KEYS) <= set(re.findall(r"\w+", section(page, "The script")))
    # The helpers among them are those of the table in tools.md.
    assert missing(set(script._ENTRY_KEYS) - HELPERS.keys(), page, "One outcome") == []
    report = simulate.simulate(a_program(), script.Script()).report()
    assert missing(report, page, "The JSON object") == []
    assert missing(scenario.SCENARIO_KEYS, page, "Scenarios") == []
    assert missing(expectations.EXPECT_KEYS, page, "What a scenario expects") == []


def a_program() -> model.Program:
    program = load_text("workflow: [{step: only, tool: {kind: noop}}]", "only.yaml").program
    assert program is not None
    return program


def test_the_readme_is_short() -> None:
    assert len(text(ROOT / "README.md").splitlines()) <= 120
