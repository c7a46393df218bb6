"""No expression does more work than it is charged for, whatever it is given.

Every row of the tables of filters, tests, methods and functions is called with the largest values
that the limits allow, and what it did is weighed (`weighing.py`). The limits are those of the
product divided by 256, so that a case takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from anew.expressions import ExpressionError, MappingScope, compile_expression, compile_template
from anew.languages import load_text
from tests.abuse.weighing import PER_OPERATION, SCALE, weighed
from tests.suites import mostly_long

CHARS = 4_096
OPERATIONS = 390
# An error may follow work that was worth no more than this: one text, or one list, that was made
# and then found to be too long.
SLACK = 600

language = weighed("")
evaluations = weighed("evaluation")
LIMITS = weighed("limits").TemplateLimits(
    text_chars_max=CHARS,
    operations_max=OPERATIONS,
    decision_operations_max=10 * OPERATIONS,
    items_max=CHARS,
    tokens_max=2_000,
)


def _rows() -> Iterator[tuple[str, Any, type]]:
    for table, name in (("filters", "FILTERS"), ("predicates", "PREDICATES")):
        for key, callee in getattr(weighed(table), name).items():
            yield f"{callee.what} {key}", callee, object
    for kind, callees in weighed("methods").METHODS.items():
        for key, callee in callees.items():
            yield f"method {kind.__name__}.{key}", callee, kind
    for key, callee in weighed("functions").FUNCTIONS.items():
        yield f"function {key}", callee, object


ROWS = {name: (callee, kind) for name, callee, kind in _rows()}

TEXTS = {
    "letters": "a" * CHARS,
    "white space": " " * CHARS,
    "digits": "1" * CHARS,
    "words": "ab " * (CHARS // 3),
    "lines": "a\n" * (CHARS // 2),
    "astral": "\U0001f600" * CHARS,
    "combining": "e\u0301" * (CHARS // 2),
    "growing": "\ufb03" * CHARS,
    "markup": "&" * CHARS,
    "list as JSON": "[" + "1," * (CHARS // 2 - 2) + "1]",
    "nested JSON": "[" * (CHARS // 2) + "]" * (CHARS // 2),
}
DEEP: Any = []
for _ in range(90):
    DEEP = [DEEP, "x" * 20]
LONG_KEY = {"k" * CHARS: 1}
DOUBLED: Any = []
DOUBLED_OBJECT: Any = "x"
for _ in range(40):
    DOUBLED = [DOUBLED, DOUBLED]
    DOUBLED_OBJECT = {"a": DOUBLED_OBJECT, "b": DOUBLED_OBJECT}
COLLECTIONS = {
    "numbers": list(range(350)),
    "too many numbers": list(range(4_000)),
    "texts": [f"{'x' * 20}{n}" for n in range(150)],
    "texts alike": ["x" * 60 + str(n) for n in range(60)],
    "one long text often": ["x" * CHARS] * 300,
    "objects": [{"a": {"b": n}, "n": f"name {n}"} for n in range(120)],
    "pairs": [[f"k{n}", "\U0001f600" * 8] for n in range(90)],
    "lists": [[n] for n in range(350)],
    "deep": DEEP,
    "shared": [[[[0] * 9] * 9] * 9] * 9,
    "object": {f"k{n}": n for n in range(350)},
    "one long key often": [LONG_KEY] * 300,
    "control characters": ["\x01" * CHARS] * 60,
    "doubled": DOUBLED,
    "doubled object": DOUBLED_OBJECT,
    "object of long keys": {"\U0001f600" * 40 + str(n): "x" * 40 for n in range(90)},
}
NUMBERS = {"largest": 2**64 - 1, "least": -(2**63), "float": 1.7e308, "true": True, "null": None}
FAMILIES = {"texts": TEXTS, "collections": COLLECTIONS, "numbers": NUMBERS}
ARGUMENTS = {
    "long text": TEXTS["letters"],
    "set of characters": "".join(chr(0x10000 + n) for n in range(CHARS)),
    "almost": "a" * (CHARS - 1) + "b",
    "one letter": "a",
    "path": "a." * (CHARS // 2),
    "attributes": "n," * (CHARS // 2),
    "number": 3,
    "large number": CHARS,
    "huge number": 10**18,
    "texts": COLLECTIONS["texts"],
    "object": COLLECTIONS["object"],
    "shared": COLLECTIONS["shared"],
    "doubled": DOUBLED,
    "filter": "upper",
    "test": "eq",
    "true": True,
}


# Of each family, what is tried with every argument too.
WITH_ARGUMENTS = {
    "letters", "astral", "texts", "objects", "object", "shared", "largest", "doubled",
    "one long key often",
}  # fmt: skip


def _calls(callee: Any, name: str, value: Any) -> Iterator[tuple[Any, ...]]:
    """The value alone, and with every attack in every place that takes an argument."""
    yield (value,) if callee.leading == 2 else ()
    if name not in WITH_ARGUMENTS:
        return
    for argument in ARGUMENTS.values():
        for given in ((argument,), ("a", argument), (argument, argument)):
            try:
                callee.check(len(given), ())
            except Exception:
                continue
            yield (value, *given) if callee.leading == 2 else given


def _work(do: Any) -> int:
    """What `do` did, in nanoseconds of the model; what it raises is no matter."""
    SCALE.nanoseconds = 0
    try:
        do()
    except MemoryError:
        raise
    except Exception:
        pass
    return SCALE.nanoseconds


@pytest.mark.parametrize("family", mostly_long(["texts", "numbers", "collections"], 2))
@pytest.mark.parametrize("row", ROWS)
def test_no_row_does_more_than_it_pays_for(row: str, family: str) -> None:
    callee, kind = ROWS[row]
    scope = language.MappingScope({}, rand=lambda: 0.5, now=lambda: "")
    for name, value in FAMILIES[family].items():
        if not isinstance(value, kind):
            continue
        for given in _calls(callee, name, value):
            run = evaluations.Evaluation(scope, LIMITS)
            work = _work(lambda: callee.call(run, *given))  # noqa: B023 - called at once
            paid = min(run.spent, OPERATIONS)
            assert work <= PER_OPERATION * (paid + SLACK), (name, [type(g) for g in given[1:]])


def _doubled_again() -> Any:
    """Equal to DOUBLED, and nowhere the same."""
    made: Any = []
    for _ in range(40):
        made = [made, made]
    return made


VALUES = {
    "big": TEXTS["letters"],
    "same": "a" * (CHARS - 1) + "a",
    "wide": TEXTS["astral"],
    "other": "\U0001f600" * (CHARS - 1) + "\U0001f601",
    "rows": list(range(4_000)),
    "rows2": list(range(4_000)),
    "objects": COLLECTIONS["objects"],
    "shared": COLLECTIONS["shared"],
    "shared2": [[[[0] * 9] * 9] * 9] * 9,
    "o": COLLECTIONS["object"],
    "o2": dict(COLLECTIONS["object"]),
    "n": 2**63,
    "spaces": " " * CHARS,
    "x": DOUBLED,
    "y": _doubled_again(),
    "k": "k" * CHARS,
    "d": {"kk" * (CHARS // 2): 1},
    "keys": [LONG_KEY] * 300,
}

_LOOP = "{{% for i in range(300) %}}{0}{{% endfor %}}"
OPERATORS = [
    *(f"big {sign} same" for sign in ("==", "!=", "<", "<=", ">", ">=", "in", "not in")),
    *(f"wide {sign} other" for sign in ("==", "!=", "<", "in", "+", "~")),
    *(f"rows {sign} rows2" for sign in ("==", "!=", "<", "+")),
    *(f"shared {sign} shared2" for sign in ("==", "!=", "<", "in", "not in", "+", "~")),
    *(f"o {sign} o2" for sign in ("==", "!=", "~")),
    "-1 in rows",
    "shared in [shared2, shared2]",
    "'b' in big",
    "big[::-1]",
    "rows[1:]",
    "wide[1:]",
    "big * 2",
    "2 * rows",
    "shared * 3",
    "n ** n",
    "9 ** 99999",
    "1.5 ** 99999",
    "n * n * n",
    "[big] * 300",
    "[rows, rows, rows, rows]",
    "{'a': rows, 'b': o}",
    "dict(a=o, b=o, c=o)",
    "range(0, n)",
    "range(300)",
    "big ~ rows ~ o",
    "shared ~ ''",
    "o ~ o",
    "rows == rows2 == rows",
    "big < same < big",
    "rows | map('string') | join",
    "objects | map(attribute='a.b') | sum",
    "objects | selectattr('a', 'eq', o)",
    "o[big]",
    "big.strip(wide)",
    "wide.lstrip(wide)",
    "big.rstrip('a')",
    "spaces | bool",
    "o | tojson(16)",
    *(f"x {sign} y" for sign in ("==", "!=", "<", "<=", "in", "not in", "+", "~", "*")),
    "x == y == x",
    "[x] == [y]",
    "{'a': x} == {'a': y}",
    "[x, y] | unique",
    "[x, y] | map('string') | join",
    "[{'a': x}] * 5 | groupby('a')",
    "{'a': x} | dictsort(by='value')",
    "{'a': x}.items() ~ ''",
    "[x].count(y)",
    "[x].index(y)",
    "x | tojson",
    "x | tojson(2)",
    "x | list | join",
    "[x] * 9",
    "keys ~ ''",
    "keys | tojson",
    "keys | join",
    "keys | map('string')",
    "keys * 9",
    "['\\x01' * 4000] * 60 | tojson",
    "d[k]",
    "d.get(k)",
    "d | get(k)",
    "{k: 1, 'k' * 4096: 2}",
    "[d] * 60 | map(attribute=k)",
    "[d] * 60 | sum(attribute=k)",
    f"d.{'k' * CHARS}",
    f"d['{'k' * CHARS}'].a",
]


@pytest.mark.parametrize("form", ["once", "often", "repeated"])
@pytest.mark.parametrize("expression", OPERATORS)
def test_no_operator_does_more_than_it_pays_for(expression: str, form: str) -> None:
    text = {
        "once": "{{ " + expression + " }}",
        "often": ("{{ " + expression + " }}") * 40,
        "repeated": _LOOP.format("{% set y = " + expression + " %}"),
    }[form]
    _check(text)


STATEMENTS = {
    "nested loops": "{% for a in range(99) %}" * 20 + "x" + "{% endfor %}" * 20,
    "many names": "{% for " + ",".join(f"a{n}" for n in range(300)) + " in shared %}{% endfor %}",
    "names of passes": _LOOP.format("{% set " + ",".join("abcdefgh") + " = [1,2,3,4,5,6,7,8] %}"),
    "long body": _LOOP.format("{{ i }}" * 300),
    "long elif": _LOOP.format(
        "{% if i < 0 %}" + "{% elif i < 0 %}" * 200 + "{% endif %}",
    ),
    "condition of rows": "{% for a in rows if -1 in rows %}{% endfor %}",
    "text of rows": _LOOP.format("{{ rows }}"),
    "texts side by side": "{{ rows }}" * 90,
    "set of text": _LOOP.format("{% set y %}{{ big }}{% endset %}"),
    "set doubles": "{% set a = 'ab' %}" + "{% set a = a ~ a %}" * 60,
    "list doubles": "{% set a = [0, 0] %}" + "{% set a = [a, a] %}" * 60 + "{{ a }}",
    "sum of lists": "{{ shared | sum(start=[]) }}",
    "else of loop": "{% for a in [] %}{% else %}" * 30 + "{{ big }}" + "{% endfor %}" * 30,
    "loop of characters": "{% for c in wide %}{{ c }}{% endfor %}",
    "loop shows position": "{% for a in rows %}{{ loop }}{% endfor %}",
    "filter chain": "{{ big" + " | upper | lower" * 40 + " }}",
    "map of map": "{{ [rows] | map('map', 'string') }}",
    "select of containers": "{{ rows | select('in', rows) }}",
    "many outputs of objects": "x{{ o }}" * 60,
    "raw text": "{% raw %}" + "{{" * 200 + "{% endraw %}" + _LOOP.format("x" * 100),
    "constant list in loop": _LOOP.format("{{ i in [" + "1," * 500 + "2] }}"),
    "constant text in loop": _LOOP.format("{{ big == '" + "a" * CHARS + "' }}"),
    "literal object in loop": _LOOP.format(
        "{% set y = {" + ",".join(f"'k{n}': i" for n in range(300)) + "} %}"
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_does_more_than_it_pays_for(name: str) -> None:
    _check(STATEMENTS[name])


def _check(text: str) -> None:
    template = language.compile_template(text, limits=LIMITS)
    scope = language.MappingScope(VALUES)
    with _Evaluations() as made:
        work = _work(lambda: template.evaluate(scope))
    paid = sum(min(run.spent, OPERATIONS) for run in made)
    # Reading names and what is constant takes its time too, and there is an end to it.
    nodes = len(text) // 4
    assert work <= PER_OPERATION * (paid + SLACK) + 10 * 60 * nodes
    assert paid <= OPERATIONS


class _Evaluations:
    """The evaluations that are made meanwhile."""

    def __enter__(self) -> list[Any]:
        made: list[Any] = []
        self.kept = kept = evaluations.Evaluation.__init__

        def begin(self: Any, *given: Any) -> None:
            kept(self, *given)
            made.append(self)

        evaluations.Evaluation.__init__ = begin
        return made

    def __exit__(self, *_: object) -> None:
        evaluations.Evaluation.__init__ = self.kept


BOMBS = {
    "comparisons": ("a", " < a", ""),
    "equalities": ("a", " == a", ""),
    "or": ("a", " or a", ""),
    "and": ("a", " and a", ""),
    "joined texts": ("a", " ~ a", ""),
    "list": ("[", "a,", "]"),
    "constant list": ("[", "1,", "]"),
    "object": ("{", "'a': 1,", "}"),
    "texts side by side": ("''", " 'a'", ""),
    "arguments": ("dict(", "a,", ")"),
    "lists": ("[", "[a],", "1]"),
    "list in lists": ("[" * 90, "a,", "]" * 90),
    "list in parentheses": ("(" * 90, "a,", ")" * 90),
    "list in objects": ("{'a': " * 90 + "[", "a,", "]" + "}" * 90),
    "choices": ("[", "a if b else c,", "]"),
    "filters of items": ("[", "a | upper,", "]"),
    "tests of items": ("[", "a is defined,", "]"),
    "signs": ("[", "- + - 1,", "]"),
    "not": ("[", "not not a,", "]"),
    "paths": ("[", "a.b.c,", "]"),
    "indexes": ("[", "a[0],", "]"),
    "slices": ("[", "a[1:2],", "]"),
    "powers": ("[", "2 ** 2,", "]"),
    "membership": ("a in [", "'a',", "]"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_compiling_takes_time_in_proportion(name: str) -> None:
    begin, middle, end = BOMBS[name]
    limits = weighed("limits").TemplateLimits(tokens_max=10**9)
    work = []
    for count in (100, 200, 400):
        text = begin + middle * count + end
        work.append(_work(lambda: language.compile_expression(text, limits=limits)))  # noqa: B023
    # The first part has a cost of its own.
    assert work[2] - work[1] <= 2.2 * (work[1] - work[0])


@pytest.mark.parametrize("name", BOMBS)
def test_a_long_expression_is_refused_at_the_token_that_is_too_many(name: str) -> None:
    begin, middle, end = BOMBS[name]
    text = begin + middle * 2_100 + end
    with pytest.raises(language.ExpressionError, match=r"longer than 2,000 names") as refused:
        language.compile_expression(text, limits=LIMITS)
    assert 0 < refused.value.offset < len(text)


TEMPLATES = {
    "outputs": ("", "{{ a }}", ""),
    "outputs in loops": ("{% for a in b %}" * 60, "{{ a }}", "{% endfor %}" * 60),
    "outputs in conditions": ("{% if a %}" * 60, "{{ a }}", "{% endif %}" * 60),
    "outputs in sets": ("{% set a %}" * 60, "{{ a }}", "{% endset %}" * 60),
    "elif": ("{% if a %}", "{% elif a %}x", "{% endif %}"),
    "loops": ("", "{% for a in b %}{% endfor %}", ""),
    "sets": ("", "{% set a = 1 %}", ""),
    "comments": ("{{ a }}", "x{# #}", ""),
    "raw": ("{{ a }}", "{% raw %}{{ {% endraw %}", ""),
    "names": ("{% for ", "a,", "b in c %}{% endfor %}"),
    "white space": ("", " {{- a -}} ", ""),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_compiling_text_takes_time_in_proportion(name: str) -> None:
    begin, middle, end = TEMPLATES[name]
    limits = weighed("limits").TemplateLimits(tokens_max=10**9)
    work = []
    for count in (100, 200, 400):
        text = begin + middle * count + end
        work.append(_work(lambda: language.compile_template(text, limits=limits)))  # noqa: B023
    assert work[2] - work[1] <= 2.3 * (work[1] - work[0])


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_long_text_is_refused(name: str) -> None:
    begin, middle, end = TEMPLATES[name]
    with pytest.raises(language.ExpressionError, match=r"longer than 2,000 names"):
        language.compile_template(begin + middle * 2_100 + end, limits=LIMITS)


def test_very_many_unknown_names_are_told_in_no_time_that_squares() -> None:
    """Each is told, but only the first are looked for in the document again."""
    texts = ",".join(f'"{{{{ a{n} }}}}"' for n in range(1_500))
    loaded = load_text(f"workflow: [{{step: a, tool: {{kind: noop, x: [{texts}]}}}}]", "x.yaml")
    found = [one for one in loaded.findings if one.rule == "name.unprovided"]
    assert len(found) == 1_500
    assert len({one.place for one in found}) < 600


_LONG = "{% set k = 'a' * 1000000 %}{% set d = {k: 1} %}"
_TEN = "{% set d = [d, d, d, d, d, d, d, d, d, d] %}"


@pytest.mark.parametrize(
    "text",
    [
        _LONG + "{{ [d] * 4000 }}",
        _LONG + _TEN * 4 + "x{{ d }}",
        _LONG + _TEN * 4 + "{{ d ~ '' }}",
        _LONG + _TEN * 4 + "{{ d | tojson }}",
        _LONG + _TEN * 4 + "{{ d | join }}",
        "{{ (['\\x01' * 1000000] * 60) | tojson }}",
    ],
)
def test_what_one_long_key_or_text_would_print_is_refused_before_it_is_made(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    monkeypatch.setattr("anew.expressions.rendering.json_text", lambda _: made.append(1) or "")
    with pytest.raises(ExpressionError, match="limit of 10"):
        compile_template(text).evaluate(MappingScope())
    assert made == []


def test_thousands_of_rows_can_be_indented() -> None:
    rows = [{"id": n, "name": "x" * 60, "note": "y" * 60, "size": n} for n in range(5_000)]
    text = compile_expression("rows | tojson(indent=2)").evaluate(MappingScope({"rows": rows}))
    assert len(text) > 800_000


@pytest.mark.parametrize("form", ["list", "texts"])
def test_a_document_of_very_many_templates_is_refused_where_it_becomes_too_long(form: str) -> None:
    texts = [f'"{{{{ [{n}{",1" * 99}] | length }}}}"' for n in range(1_400)]
    given = f"x: [{','.join(texts)}]"
    if form == "texts":
        given = ", ".join(f"x{n}: {text}" for n, text in enumerate(texts))
    loaded = load_text(f"workflow: [{{step: a, tool: {{kind: noop, {given}}}}}]", "x.yaml")
    found = [one for one in loaded.findings if "250,000 names" in one.message]
    assert [one.rule for one in found] == ["expression.syntax"]
