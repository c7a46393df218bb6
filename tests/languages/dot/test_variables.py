"""Variables of texts and commands; what a value says is never run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anew.expressions import ExpressionError, MappingScope
from anew.languages.dot.conditions import Names
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.variables import (
    compile_command,
    compile_text,
    variables_in,
    variables_in_command,
)
from anew.values import Object, Value

DOCS = Names(DotDialect.DOCS, pipeline="deploy", goal="write it")
SPEC = Names(DotDialect.SPEC, pipeline="deploy", goal="ship it")


class WarnedScope(MappingScope):
    """A scope that keeps what it is warned of, as the engine's does."""

    __slots__ = ("warnings",)

    def __init__(self, values: Object) -> None:
        super().__init__(values)
        self.warnings: list[str] = []

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def expanded(text: str, ctx: Object | None = None, names: Names = DOCS, **more: Value) -> Value:
    return compile_text(text, names).value(MappingScope({"ctx": ctx or {}, **more}))


@pytest.mark.parametrize(
    ("text", "ctx", "expected"),
    [
        ("no variable", {}, "no variable"),
        ("$name!", {"name": "Ann"}, "Ann!"),
        ("${name}s", {"name": "Ann"}, "Anns"),
        ("${ctx.tool.output}", {"tool.output": "ok"}, "ok"),
        ("$context.tool.output.", {"tool.output": "ok"}, "ok."),
        ("${context.a.b.1}", {"a": {"b": [1, 2]}}, "2"),
        ("${tool.output}", {"tool": {"output": "deep"}}, "deep"),
        ("$feature_name", {"feature": "no", "feature_name": "yes"}, "yes"),
        ("$feature_name", {"feature": "no"}, "$feature_name"),
        ("$$name $$$name", {"name": "Ann"}, "$name $Ann"),
        ("$a", {"a": "$b", "b": "never"}, "$b"),
        ("$a$b", {"a": "$", "b": "b"}, "$b"),
        (
            "$n $t $l $o",
            {"n": 1.5, "t": True, "l": [1, "ä"], "o": {"k": None}},
            '1.5 true [1, "ä"] {"k": null}',
        ),
        ("costs $5, ${x:-y} $", {}, "costs $5, ${x:-y} $"),
        ("$name的", {"name": "Ann"}, "Ann的"),
        ("$_pipeline_name", {"_pipeline_name": "forged"}, "deploy"),
    ],
)
def test_a_text_is_expanded_in_one_pass(text: str, ctx: Object, expected: str) -> None:
    assert expanded(text, ctx) == expected


def test_goal_is_the_nodes_in_docs_and_the_graphs_in_spec() -> None:
    assert expanded("$goal") == "write it"
    assert expanded("${goal}", {"goal": "context's"}) == "write it"
    assert expanded("$context.goal", {"goal": "context's"}) == "context's"
    assert expanded("$goal", {"goal": "context's"}, Names(DotDialect.DOCS)) == "context's"
    assert expanded("$goal", {}, SPEC) == "ship it"
    assert expanded("$goal", {"graph.goal": "as set for the run"}, SPEC) == "as set for the run"


def test_the_failure_before_can_be_told_to_the_next_node() -> None:
    error = {"type": "TERMINAL", "message": "no such file"}
    origin = {"step": "build", "outcome": {"verdict": "failure", "error": error}}
    text = "${_previous_node}: $status, ${error.message}"
    assert expanded(text, _origin=origin) == "build: FAILURE, no such file"


def test_an_unknown_variable_is_left_with_a_warning() -> None:
    scope = WarnedScope({"ctx": {}})
    assert compile_text("Do $this and ${ctx.that}", DOCS).value(scope) == "Do $this and ${ctx.that}"
    assert len(scope.warnings) == 2
    assert "$this" in scope.warnings[0]


def test_a_text_without_variables_is_constant() -> None:
    assert compile_text("a $$ b", DOCS).is_constant
    assert not compile_text("a $b", DOCS).is_constant


def test_a_text_that_grows_too_long_is_refused() -> None:
    with pytest.raises(ExpressionError, match="longer than"):
        expanded("$x" * 200, {"x": "y" * 1_000_000})


def test_variables_are_listed_with_their_places() -> None:
    found = variables_in("$a $$b ${ctx.c.d} $context.e")
    assert [(each.key, each.at) for each in found] == [("a", 0), ("c.d", 7), ("e", 18)]
    assert [each.key for each in variables_in_command("echo $a '$b' \"$c\" \\$d # $e")] == [
        "a",
        "c",
    ]


@given(
    st.text(alphabet="$ab{}.c_ ", max_size=20),
    st.dictionaries(st.sampled_from("abc"), st.text("$ab{}", max_size=5)),
)
def test_a_value_is_never_read_again(text: str, ctx: dict[str, str]) -> None:
    expected = str(expanded(text, {key: f"<{key}>" for key in ctx}))
    for key, value in ctx.items():
        expected = expected.replace(f"<{key}>", value)
    assert expanded(text, dict(ctx)) == expected


# Commands


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def in_shell(
    text: str, ctx: Object | None = None, names: Names = DOCS, *, where: Path | None = None
) -> Ended:
    scope = MappingScope({"ctx": ctx or {}})
    command, environment = (part.value(scope) for part in compile_command(text, names))
    done = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        check=False,
        timeout=30,
        cwd=where,
    )
    # Decoded here: the text mode of subprocess would change line ends.
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    ("text", "ctx", "expected"),
    [
        ('printf %s "$name"', {"name": "a  b"}, "a  b"),
        ('printf %s "${name}s"', {"name": "Ann"}, "Anns"),
        ('printf %s "${name:-none}"', {"name": "Ann"}, "Ann"),
        ('printf %s "${name:-none}"', {}, "none"),
        ('printf %s "${#name}"', {"name": "Ann"}, "3"),
        ('printf %s "${ctx.tool.output}"', {"tool.output": "ok"}, "ok"),
        ('printf %s "$context.a.b/x"', {"a": {"b": 1}}, "1/x"),
        ("printf %s '$name ${ctx.x}'", {"name": "Ann"}, "$name ${ctx.x}"),
        ("printf %s \"'$name'\"", {"name": "Ann"}, "'Ann'"),
        ("printf %s \\$name", {"name": "Ann"}, "$name"),
        ('# don\'t\nprintf %s "${ctx.n}"', {"n": 1}, "1"),
        ('printf %s "$goal"', {}, "write it"),
        ('n=1; printf %s "$n"', {"n": "context's"}, "1"),
        ('printf %s "$gone"', {}, ""),
        ('printf %s "${my.key}-${my.key}"', {"my.key": 1}, "1-1"),
        ('printf %s "${a.b_c}${a_b.c}"', {"a.b_c": 1, "a_b.c": 2}, "12"),
        ('CTX_x=own; printf %s "$CTX_x${ctx.x}"', {"x": "given"}, "owngiven"),
        ('printf %s "${ctx.my-key}"', {"my-key": "k"}, "k"),
    ],
)
def test_a_command_is_given_its_values(text: str, ctx: Object, expected: str) -> None:
    done = in_shell(text, ctx)
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)


HOSTILE = [
    '"; touch hit; "', "'; touch hit; '", "$(touch hit)", "`touch hit`", "; touch hit", "| touch hit",
    "&& touch hit", "\ntouch hit\n", "${x:=$(touch hit)}", "}; touch hit; {", '"$(touch hit)"',
    "> hit", "\\", "x' $(touch hit) '", "\r\ntouch hit", "a\n'\n\"; touch hit #",
]  # fmt: skip
FORMS = [
    "$v",
    "${v}",
    "${ctx.v}",
    "$context.v",
    "${v:-x}",
    "${d.v}",
    "$PATH_X",
    "$IFS",
    "$LD_PRELOAD",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_value_is_never_run(form: str, hostile: str, tmp_path: Path) -> None:
    ctx = {"v": hostile, "d.v": hostile, "PATH_X": hostile, "IFS": hostile, "LD_PRELOAD": hostile}
    done = in_shell(f'printf "%s|" "{form}"; echo {form} >/dev/null', ctx, where=tmp_path)
    assert done.stdout == f"{hostile}|"
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_any_value_arrives_as_it_is(value: str) -> None:
    scope = MappingScope({"ctx": {"v": value, "d.v": value}})
    command, environment = (
        part.value(scope) for part in compile_command('printf "%s" "$v${d.v}"', DOCS)
    )
    env = {"PATH": os.environ["PATH"], **environment}
    done = subprocess.run(
        ["sh", "-c", command], env=env, capture_output=True, check=True, timeout=30
    )
    assert done.stdout == (value + value).encode()
    assert command == 'printf "%s" "$v${CTX_d_v?d.v has no value}"'


RISKY = ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "IFS", "PYTHONPATH", "HOME",
         "PYTHONSTARTUP", "GIT_SSH_COMMAND", "NODE_OPTIONS", "PERL5OPT", "http_proxy", "PS4",
         "SHELLOPTS", "DYLD_INSERT_LIBRARIES", "EDITOR", "npm_config_prefix",
         "MAKEFILES", "MAKEFLAGS", "TAR_OPTIONS", "GREP_OPTIONS", "GOPROXY", "GOFLAGS", "RSYNC_RSH",
         "WGETRC", "MAVEN_OPTS", "JAVA_TOOL_OPTIONS", "RUBYOPT", "PERL5LIB"]  # fmt: skip


@pytest.mark.parametrize("name", RISKY)
def test_a_name_that_steers_programs_is_never_set(name: str) -> None:
    scope = MappingScope({"ctx": {name: "evil"}})
    for text in (f'echo "${name}"', f"echo ${{{name}}}", f"echo ${{ctx.{name}}}"):
        command, environment = (part.value(scope) for part in compile_command(text, DOCS))
        assert name not in environment
        assert environment == {f"CTX_{name}": "evil"}
        assert f"CTX_{name}" in command
    cut, environment = (part.value(scope) for part in compile_command(f"echo ${{{name}:-x}}", DOCS))
    assert (cut, environment) == (f"echo ${{{name}:-x}}", {})


def test_a_risky_name_is_the_shells_where_the_context_has_none_or_the_command_sets_it() -> None:
    assert in_shell('printf %s "$PATH"').stdout == os.environ["PATH"]
    assert in_shell('printf %s "$PATH"', {"PATH": "given"}).stdout == "given"
    done = in_shell('PATH="$PATH:/nowhere"; printf %s "$PATH"', {"PATH": "/evil"})
    assert done.stdout == os.environ["PATH"] + ":/nowhere"


def test_a_missing_value_ends_the_command_before_it_does_harm(tmp_path: Path) -> None:
    scope = WarnedScope({"ctx": {}})
    _, environment = compile_command("touch ${ctx.dir}/x", DOCS)
    assert environment.value(scope) == {}
    assert "${ctx.dir}" in scope.warnings[0]
    done = in_shell('touch hit"${ctx.dir}"', where=tmp_path)
    assert done.returncode != 0
    assert "dir has no value" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [("a\0b", "NUL"), ("x" * 200_000, "write it to a file"), ("ü" * 70_000, "bytes")],
)
def test_a_value_no_process_can_be_given_is_an_error(value: str, problem: str) -> None:
    _, environment = compile_command("echo $v", DOCS)
    with pytest.raises(ExpressionError, match=problem):
        environment.value(MappingScope({"ctx": {"v": value}}))


def test_the_largest_values_really_start_a_process() -> None:
    ctx = {"v": "x" * (120 * 1024)}
    assert in_shell("printf %s ${#v}", ctx).stdout == str(120 * 1024)
    many = {f"v{n}": "x" * (120 * 1024) for n in range(9)}
    text = "echo " + " ".join(f"${{#{name}}}" for name in many)
    with pytest.raises(ExpressionError, match="together"):
        in_shell(text, many)


def test_a_command_without_variables_needs_no_environment() -> None:
    command, environment = compile_command("echo '$a'", DOCS)
    assert command.is_constant
    assert environment.is_constant
    assert environment.value(MappingScope({})) == {}


@given(st.text(alphabet="$ab{}.c_ '\"\\#\n:-", max_size=30))
def test_no_command_raises_and_only_variables_change(text: str) -> None:
    command, environment = compile_command(text, DOCS)
    scope = MappingScope({"ctx": {"a": "VALUE", "b.c": "VALUE"}})
    assert "VALUE" not in command.value(scope)
    assert set(environment.value(scope).values()) <= {"VALUE"}
