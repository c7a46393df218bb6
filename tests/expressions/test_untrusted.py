"""Templates reach data and nothing else: known ways out of template engines stay closed."""

from __future__ import annotations

import pytest

from anew.expressions import UNDEFINED, ExpressionError, MappingScope, compile_template

SCOPE = MappingScope(
    {
        "x": "text",
        "n": 5,
        "xs": [1, "a"],
        "o": {"a": 1},
        "none": None,
        "f": 1.5,
        "request": {"args": {"a": "__class__"}},
    }
)

PAYLOADS = [
    "''.__class__",
    "''.__class__.__mro__",
    "''.__class__.__mro__[1].__subclasses__()",
    "''['__class__']",
    "''.__class__.__base__.__subclasses__()",
    "x.__class__",
    "x['__class__']['__mro__']",
    "n.__class__",
    "f.__class__.__bases__",
    "xs.__class__.__mro__",
    "xs.__len__()",
    "o.__class__",
    "o.__init__.__globals__",
    "none.__class__",
    "true.__class__",
    "(1).__class__",
    "().__class__.__bases__[0]",
    "[].__class__.__base__",
    "{}.__class__.__base__",
    "x.__doc__",
    "x.__init__",
    "cycler.__init__.__globals__.os.popen('id').read()",
    "joiner.__init__.__globals__",
    "namespace.__init__.__globals__",
    "lipsum.__globals__['os']",
    "lipsum.__globals__.os.popen('id')",
    "url_for.__globals__",
    "get_flashed_messages.__globals__",
    "config.items()",
    "self.__init__.__globals__.__builtins__",
    "self._TemplateReference__context",
    "request.application.__globals__",
    "__builtins__",
    "__import__('os')",
    "open('/etc/passwd')",
    "eval('1')",
    "exec('1')",
    "getattr(x, '__class__')",
    "type(x)",
    "globals()",
    "locals()",
    "vars()",
    "dir(x)",
    "super()",
    "cycler()",
    "joiner()",
    "namespace(a=1)",
    "lipsum()",
    "caller()",
    "loop.cycle()",
    "x | attr('__class__')",
    "x | attr('upper')",
    "[x] | map('attr', '__class__') | list",
    "[x] | map(attribute='__class__') | first",
    "[x] | map(attribute='__class__.__mro__') | first",
    "[x] | selectattr('__class__') | first",
    "[o] | groupby('__class__')",
    "[x] | sort(attribute='__class__')",
    "[x] | sum(attribute='__class__')",
    "x.format()",
    "'{0.__class__}'.format(x)",
    "'{0.__class__}'.format_map(o)",
    "'%s' % x.__class__",
    "'%(a)s' % o",
    "'{0.__class__}' | format(x)",
    "'%s' | format(x)",
    "x[request.args.a]",
    "x[request.args.a]['__mro__']",
    "o.get('__class__')",
    "o['__cla' ~ 'ss__']",
    "x.encode()",
    "x.translate(o)",
    "x.__getattribute__('upper')",
    "o.pop('a')",
    "o.update(b=1)",
    "o.clear()",
    "xs.append(1)",
    "xs.sort()",
    "xs.pop()",
    "o.setdefault('b', 1)",
    "o.__setitem__('b', 1)",
    "o.items.__self__",
    "x.upper.__self__",
    "range.__class__",
    "dict.__class__",
    "rand.__globals__",
    "now.__self__",
    "range(1).__class__",
    "dict(a=1).__class__",
    "rand().real.__class__",
    "x | pprint",
    "x | xmlattr",
    "xs | random",
    "x | regex_replace('a', 'b')",
    "x | map('__class__')",
    "x is __class__",
    "x | __class__",
    "x.mro()",
    "x | safe | attr('__html__')",
    "o.__class__('a')",
    "xs[xs.__class__]",
    "x.__add__('a')",
    "n.to_bytes(10**9, 'big')",
    "n.bit_length()",
    "x.join.__self__",
    "(x, n).__class__",
    "x[::x.__class__].__class__",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_find_nothing(payload: str) -> None:
    before = repr(SCOPE.get("o")), repr(SCOPE.get("xs"))
    try:
        result = compile_template("{{ " + payload + " }}").evaluate(SCOPE)
    except ExpressionError:
        pass
    else:
        assert result is UNDEFINED or result in (None, [], "text")
    assert (repr(SCOPE.get("o")), repr(SCOPE.get("xs"))) == before


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_print_nothing_of_python(payload: str) -> None:
    for text in (
        "-{{ " + payload + " }}",
        "{% set q = " + payload + " %}{{ q }}",
        "{% for q in " + payload + " %}{{ q }}{% endfor %}",
    ):
        try:
            result = compile_template(text).evaluate(SCOPE)
        except ExpressionError:
            continue
        assert "<" not in result
        assert "object at" not in result


@pytest.mark.parametrize(
    "text",
    [
        "{% import 'os' as os %}",
        "{% from 'os' import path %}",
        "{% include '/etc/passwd' %}",
        "{% extends x %}",
        "{% macro a() %}{% endmacro %}",
        "{% call x() %}{% endcall %}",
        "{% block a %}{% endblock %}",
        "{% autoescape false %}{% endautoescape %}",
        "{% debug %}",
        "{% do o.pop('a') %}",
        "{% trans %}{% endtrans %}",
        "{% break %}",
        "{% set o.a = 2 %}",
        "{% set o['a'] = 2 %}",
        "{% with a=1 %}{% endwith %}",
    ],
)
def test_other_statements_do_not_exist(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_template(text)


def test_double_underscores_are_keys_like_any_other() -> None:
    scope = MappingScope({"o": {"__class__": "data", "items": "key"}, "__name__": "mine"})
    assert compile_template("{{ o.__class__ }}").evaluate(scope) == "data"
    assert compile_template("{{ __name__ }}").evaluate(scope) == "mine"
    assert compile_template("{{ o.items }}").evaluate(scope) == "key"
