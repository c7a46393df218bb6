"""Templates reach data and nothing else: every known way out of a template engine stays closed."""

from __future__ import annotations

import pytest

from anew.expressions import UNDEFINED, ExpressionError, MappingScope, compile_template

SCOPE = MappingScope(
    {
        "x": "text",
        "n": 5,
        "xs": [1, "a"],
        "o": {"a": 1},
        "f": 1.5,
        "key": "__class__",
    }
)
DUNDERS = [
    "__class__", "__mro__", "__base__", "__bases__", "__subclasses__", "__init__", "__globals__",
    "__builtins__", "__dict__", "__doc__", "__module__", "__getattribute__", "__reduce__",
    "__reduce_ex__", "__init_subclass__", "__format__", "__code__", "__closure__", "__self__",
    "__func__", "__wrapped__", "__import__", "__call__", "__getitem__", "__len__", "__iter__",
    "__html__", "__sizeof__", "__weakref__", "__struct_fields__",
]  # fmt: skip
PYTHON_METHODS = [
    "format", "format_map", "encode", "translate", "maketrans", "zfill", "casefold", "expandtabs",
    "partition", "rpartition", "removeprefix", "isidentifier", "append", "extend", "insert", "pop",
    "remove", "clear", "copy", "sort", "reverse", "update", "setdefault", "popitem", "fromkeys",
    "to_bytes", "from_bytes", "bit_length", "as_integer_ratio", "hex", "mro", "words",
]  # fmt: skip
GLOBALS = [
    "cycler", "joiner", "namespace", "lipsum", "range", "dict", "self", "config", "request",
    "url_for", "get_flashed_messages", "open", "eval", "exec", "compile", "getattr", "setattr",
    "vars", "globals", "locals", "dir", "type", "super", "object", "print", "input", "breakpoint",
    "memoryview", "bytes", "caller", "varargs", "kwargs",
]  # fmt: skip
HOLDERS = ["x", "n", "xs", "o", "f", "''", "(1)", "[]", "{}", "true", "none", "rand", "range(1)"]


def _finds_nothing(expression: str) -> None:
    """Neither as a value nor as a text is there anything of Python."""
    for text in ("{{ " + expression + " }}", "-{{ " + expression + " }}"):
        try:
            found = compile_template(text).evaluate(SCOPE)
        except ExpressionError:
            continue
        shown = "" if found is UNDEFINED else str(found)
        assert "<" not in shown
        assert "built-in" not in shown
        assert "object at" not in shown
        assert "class" not in shown


@pytest.mark.parametrize("name", DUNDERS)
def test_no_value_has_attributes_of_python(name: str) -> None:
    for holder in HOLDERS:
        _finds_nothing(f"{holder}.{name}")
        _finds_nothing(f"{holder}['{name}']")
        _finds_nothing(f"{holder}.{name}()")
        _finds_nothing(f"({holder})['{name[:3]}' ~ '{name[3:]}']")


@pytest.mark.parametrize("name", DUNDERS)
def test_no_filter_reads_attributes_of_python(name: str) -> None:
    for expression in (
        f"[x, xs, o] | map(attribute='{name}') | list",
        f"[x, xs, o] | map(attribute='{name}.{name}') | list",
        f"[x, xs, o] | selectattr('{name}') | list",
        f"[x, xs, o] | rejectattr('{name}', 'none') | list | length",
        f"[o] | groupby('{name}')",
        f"[x] | sort(attribute='{name}')",
        f"[x] | unique(attribute='{name}') | list | length",
        f"[x] | sum(attribute='{name}')",
        f"[x] | min(attribute='{name}')",
        f"[x] | join(',', attribute='{name}')",
        f"x | attr('{name}')",
        f"[x] | map('attr', '{name}') | list",
        f"o | get('{name}')",
        f"o.get('{name}')",
    ):
        _finds_nothing(expression)


@pytest.mark.parametrize("name", PYTHON_METHODS)
def test_no_method_of_python_is_called(name: str) -> None:
    before = repr(SCOPE.get("o")), repr(SCOPE.get("xs"))
    for holder in HOLDERS:
        for arguments in ("", "x", "o", "0"):
            with pytest.raises(ExpressionError):
                compile_template("{{ " + f"{holder}.{name}({arguments})" + " }}").evaluate(SCOPE)
    assert (repr(SCOPE.get("o")), repr(SCOPE.get("xs"))) == before


@pytest.mark.parametrize("name", GLOBALS)
def test_no_name_leads_to_a_thing_of_python(name: str) -> None:
    for expression in (
        name,
        f"{name}.__init__.__globals__",
        f"{name}.__class__.__mro__[1].__subclasses__()",
        f"[{name}] | map(attribute='__class__') | list",
        f"{name} ~ ''",
        f"{name} | string",
        f"{name} | tojson",
    ):
        _finds_nothing(expression)
    if name not in ("range", "dict"):
        with pytest.raises(ExpressionError):
            compile_template("{{ " + name + "(x) }}").evaluate(SCOPE)


@pytest.mark.parametrize(
    "expression",
    [
        "'%s' % x",
        "'%1000000000d' % n",
        "'%(a)s' % o",
        "'%s' | format(x)",
        "'{0.__class__}' | format(x)",
        "'{0.__class__}'.format(x)",
        "'{a.__class__}'.format_map(o)",
        "'%c' % 99",
        "x % ()",
        "'{:1000000000}'.format(x)",
        "x | regex_search('(a+)+$')",
        "x | pprint",
        "xs | random",
        "x | xmlattr",
        "x | filesizeformat",
        "x | map('__class__')",
        "x is __class__",
        "range(10**18)",
        "range(0 - 10**18, 10**18)",
        "range(0, 1, 0)",
        "dict(**o)",
        "range(*xs)",
        "x if __import__('os') else n",
        "(lambda: 1)()",
        "[i for i in xs]",
        "x := 1",
        "o.items()()",
        "xs[0]()",
        "(x.upper)()()",
    ],
)
def test_no_other_way_of_python_is_a_way_here(expression: str) -> None:
    with pytest.raises(ExpressionError):
        compile_template("{{ " + expression + " }}").evaluate(SCOPE)


@pytest.mark.parametrize(
    "text",
    [
        "{% import 'os' as os %}",
        "{% from 'os' import path %}",
        "{% include '/etc/passwd' %}",
        "{% extends 'x' %}",
        "{% macro a() %}{% endmacro %}",
        "{% call x() %}{% endcall %}",
        "{% block a %}{% endblock %}",
        "{% filter upper %}{% endfilter %}",
        "{% autoescape false %}{% endautoescape %}",
        "{% debug %}",
        "{% do o.pop('a') %}",
        "{% break %}",
        "{% set o.a = 2 %}",
        "{% set o['a'] = 2 %}",
        "{% with a=1 %}{% endwith %}",
        "{% set ns = namespace(a=1) %}{{ ns }}",
        "{% for a in xs recursive %}{{ loop(xs) }}{% endfor %}",
        "{% for a in xs %}{{ loop.cycle('a') }}{% endfor %}",
        "{% for a in xs %}{{ loop.changed(a) }}{% endfor %}",
    ],
)
def test_no_other_statement_exists(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_template(text).evaluate(SCOPE)
