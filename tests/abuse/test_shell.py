"""Values that want to become commands: `shquote` holds them, and `anew check` warns without it."""

from __future__ import annotations

import json
import subprocess

import pytest

from anew.expressions import ExpressionError, MappingScope, compile_template
from anew.languages import load_text

TAIL = "end-of-words"
HOSTILE = [
    "", " ", "a b", "a\tb", "a\nb", "\n", "a\r\nb", "'", "''", "'''", "\"", "\\", "\\'", "'\\''",
    "a'b", "'a'", "\\\\'", "$HOME", "${HOME}", "$(id)", "`id`", "$((1+1))", "; id", "& id", "&& id",
    "|| id", "| id", "> /dev/null", "< /etc/passwd", ">> x", "2>&1", "<<EOF", "<(id)", "*", "?",
    "[a-z]", "{a,b}", "~", "~root", "!x", "!!", "#", "# comment", "a#b", "-n", "--help", "-", "--",
    "=", "a=b", "PATH=/", "%s", "%n", "\\n", "\\0", "\\x41", "\u00e4", "\u2028", "\u202e", "\ufeff",
    "\U0001f600", "\x01", "\x07", "\x1b[31m", "\x7f", "\u0085", "()", "( id )", "{ id; }", "if",
    "done", "esac", "a;b", "a&b", "a|b", "';id;'", "\";id;\"", "'$(id)'", "\"$(id)\"", "'`id`'",
    "\\$(id)", "$'\\x41'", "$\"x\"", "'\n id\n'", "a\\\nb", "x" * 5000, "'" * 500, "\\" * 501,
]  # fmt: skip


def quoted(value: object) -> str:
    made = compile_template("{{ x | shquote }}").value(MappingScope({"x": value}))
    assert isinstance(made, str)
    return made


@pytest.fixture(scope="module")
def read_by_sh() -> dict[str, list[str]]:
    """Each text with the words that a real shell makes of it, all asked of one process."""
    script = "".join(f"printf '%s\\0' {quoted(text)} {TAIL}\n" for text in HOSTILE)
    done = subprocess.run(
        ["/bin/sh"], input=script.encode(), capture_output=True, check=True, timeout=60
    )
    words = done.stdout.decode().split("\0")[:-1]
    ends = [at for at, word in enumerate(words) if word == TAIL]
    starts = [0, *(end + 1 for end in ends)]
    return {text: words[starts[n] : ends[n]] for n, text in enumerate(HOSTILE)}


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_text_stays_one_word(number: int, read_by_sh: dict[str, list[str]]) -> None:
    assert read_by_sh[HOSTILE[number]] == [HOSTILE[number]]


@pytest.mark.parametrize(
    "value",
    [None, {}, {"a": 1}, [None], [["a"]], [{"a": "b"}], "a\0b", ["a", "\0"]],
    ids=repr,
)
def test_what_is_no_word_is_refused(value: object) -> None:
    with pytest.raises(ExpressionError, match="shquote"):
        quoted(value)


def test_a_missing_value_is_refused_and_not_an_empty_word() -> None:
    with pytest.raises(ExpressionError, match="undefined"):
        compile_template("rm -rf {{ nothing | shquote }}/*").value(MappingScope({}))


def test_a_list_gives_a_word_for_each_item() -> None:
    assert quoted(["a b", 1, True, "'"]) == r"'a b' '1' 'true' ''\'''"
    assert quoted([]) == ""


def test_quotes_do_not_grow_past_the_limit() -> None:
    with pytest.raises(ExpressionError, match="limit"):
        quoted("'" * 900_000)


# --- what `anew check` says ----------------------------------------------------------------------


def rules_of(command: str | list[str], *, kind: str = "shell") -> list[str]:
    """The findings about shells in a playbook whose task has this command."""
    task = {"kind": kind, "command": command, **({"prompt": "go"} if kind == "agent" else {})}
    document = {
        "keychain": [{"name": "db"}, {"name": "host"}],
        "workload": {"x": "", "files": []},
        "workflow": [
            {"step": "a", "tool": [{"tok": {"kind": "secrets", "name": "t"}}, {"run": task}]}
        ],
    }
    found = load_text(json.dumps(document), "x.yaml").findings
    return [one.rule for one in found if one.rule.startswith("shell.")]


OPEN: list[str | list[str]] = [
    "echo {{ workload.x }}",
    "{{ workload.x }}",
    "echo '{{ workload.x }}'",
    'echo "{{ workload.x }}"',
    "echo {{ ctx.a.b }}",
    "echo {{ args.x | trim }}",
    "echo {{ workload.x | replace('a', '') }}",
    "echo {{ workload.x | tojson }}",
    "echo {{ workload.x | urlencode }}",
    "echo {{ workload.x | escape }}",
    "echo {{ 'a' if ctx.y else workload.x }}",
    "echo {{ 'a' ~ workload.x }}",
    "echo {{ workload.x or 'none' }}",
    "echo {{ workload.x | shquote | trim }}",
    "echo {{ workload.x | shquote | upper }}",
    "{% for f in workload.files %}cat {{ f }};{% endfor %}",
    "{% if ctx.y %}cat {{ workload.x }}{% endif %}",
    "echo ok # {{ workload.x }}",
    "{% set run_id = workload.x %}echo {{ run_id }}",
    "{% set run_id %}{{ workload.x }}{% endset %}echo {{ run_id }}",
    "{% for execution_id in workload.files %}echo {{ execution_id }};{% endfor %}",
    "echo {{ job }} {{ run_id }}",
    ["echo ok", "echo {{ workload.x }}"],
    # Quoted, but where the word is not read as one.
    'echo "{{ workload.x | shquote }}"',
    "echo '{{ workload.x | shquote }}'",
    "echo `cat {{ workload.x | shquote }}`",
    "echo ok # {{ workload.x | shquote }}",
    'echo "a $(date) {{ workload.x | shquote }}"',
]
HELD = [
    "echo {{ workload.x | shquote }}",
    "echo {{ workload.files | shquote }}",
    "echo {{ workload.x | trim | shquote }}",
    "echo {{ workload.x | int }} {{ workload.files | length }} {{ _attempt }}",
    "mkdir out-{{ execution_id }} && touch 'out/{{ run_id }}'",
    'echo "{{ workload.x | int }}"',
    "echo {{ 'a' if ctx.y else 'b' }}",
    "echo {{ (workload.x | shquote) if ctx.y else 'b' }}",
    'echo "$(basename {{ workload.x | shquote }})"',
    r"echo it\'s {{ workload.x | shquote }}",
    "# it's\necho {{ workload.x | shquote }}",
    "echo a#b's' {{ workload.x | shquote }}",
    "(cd a && ls {{ workload.x | shquote }})",
    "echo {{ workload.x | b64encode }} | base64 -d",
    "{% for f in workload.files %}cat {{ f | shquote }};{% endfor %}",
    'echo "$NAME"',
]
SECRET = [
    "curl -H {{ keychain.db.password }}",
    "curl -H {{ keychain.db.password | shquote }}",
    "curl -u {{ keychain.db | tojson | shquote }}",
    "curl -u 'me:{{ keychain['db'].password }}'",
    "echo {{ tok.token | shquote }}",
    "echo {{ tok | shquote }}",
    "echo {{ keychain.host | shquote }}",
    "{% set p = keychain.db.password %}echo {{ p | shquote }}",
    "echo {{ ('a' ~ keychain.db.password) | shquote }}",
]


@pytest.mark.parametrize("command", OPEN, ids=str)
def test_a_value_that_can_become_a_command_is_found(command: str | list[str]) -> None:
    assert rules_of(command) == ["shell.template"]


@pytest.mark.parametrize("command", HELD)
def test_what_is_held_is_not_warned_of(command: str) -> None:
    assert rules_of(command) == []


@pytest.mark.parametrize("command", SECRET)
def test_a_secret_in_the_list_of_processes_is_found(command: str) -> None:
    assert rules_of(command) == ["shell.secret"]


def test_the_public_part_of_a_credential_may_be_seen() -> None:
    assert rules_of("psql -h {{ keychain.db.host | shquote }}") == []


def test_the_words_of_an_agent_are_no_shell_text() -> None:
    assert rules_of(["agent", "{{ keychain.db.password }}"], kind="agent") == ["shell.secret"]
    assert rules_of(["agent", "{{ workload.x }}"], kind="agent") == []
    assert rules_of("agent {{ workload.x }}", kind="agent") == ["shell.template"]


GRAPH = (
    "digraph g {{ s [shape=Mdiamond]; x [shape=Msquare]; "
    "a [shape=parallelogram, tool_command={}]; s->a->x }}"
)


@pytest.mark.parametrize(
    ("command", "is_found"),
    [
        ('eval "$plan"', True),
        ("eval $plan", True),
        ('sh -c "echo ${ctx.plan}"', True),
        ('/bin/bash -euc "echo $plan"', True),
        ("bash -c $plan", True),
        ('sh -c \'echo "$1"\' sh "$plan"', False),
        ("plan=1; eval $plan", False),
        ('echo "$plan"', False),
        ('echo "$plan; medieval x"', False),
    ],
)
def test_a_graph_that_makes_code_of_a_value_is_found(command: str, is_found: bool) -> None:
    written = '"' + command.replace('"', '\\"') + '"'
    rules = [one.rule for one in load_text(GRAPH.format(written), "x.dot").findings]
    assert ("shell-code" in rules) == is_found
