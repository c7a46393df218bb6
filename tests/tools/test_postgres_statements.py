"""How SQL text is cut into statements for PostgreSQL; no server needed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.tools.postgres.failures import KINDS_BY_SQLSTATE
from anew.tools.postgres.statements import Placeholder, statements_of
from anew.tools.postgres.tokens import tokens_of
from anew.tools.sql.failure import SqlFailure

PIECES = [
    "'",
    '"',
    "$$",
    "$a$",
    "/*",
    "*/",
    "--",
    "\n",
    ";",
    "(",
    ")",
    "E'",
    "\\",
    "%s",
    ":n",
    "x",
    " ",
]


def texts_of(sql: str) -> list[str]:
    return ["".join(map(str, s.parts)).strip() for s in statements_of([sql], None)]


@pytest.mark.parametrize(
    ("sql", "statements"),
    [
        ("a; b;; c;", ["a", "b", "c"]),
        ("a ';' b; c", ["a ';' b", "c"]),
        ("a 'it''s;' b; c", ["a 'it''s;' b", "c"]),
        (r"a E'\';' b; c", [r"a E'\';' b", "c"]),
        (r"a '\'; b", [r"a '\'", "b"]),
        ('a "x;""y" b; c', ['a "x;""y" b', "c"]),
        ("a $$;$$ b; c", ["a $$;$$ b", "c"]),
        ("a $x$;$$;$x$ b; c", ["a $x$;$$;$x$ b", "c"]),
        ("a$1$; b$1$; c", ["a$1$", "b$1$", "c"]),
        ("a -- ;\n b; c", ["a -- ;\n b", "c"]),
        ("a /* ; /* ; */ ; */ b; c", ["a /* ; /* ; */ ; */ b", "c"]),
        ("CREATE RULE r AS ON INSERT TO t DO (a; b); c", ["CREATE RULE r AS ON INSERT TO t DO (a; b)", "c"]),
        ("BEGIN; a; END; b", ["BEGIN", "a", "END", "b"]),
        ("a; -- only a comment", ["a"]),
        ("a 'never ends; b", ["a 'never ends; b"]),
    ],
)  # fmt: skip
def test_a_semicolon_ends_a_statement_where_postgres_says_so(
    sql: str, statements: list[str]
) -> None:
    assert texts_of(sql) == statements


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_character_is_lost_or_read_twice(sql: str) -> None:
    tokens = list(tokens_of(sql))
    assert "".join(token.text for token in tokens) == sql
    assert [token.start for token in tokens] == [
        sum(len(t.text) for t in tokens[:n]) for n in range(len(tokens))
    ]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_cut_or_refused(sql: str) -> None:
    for params in (None, {"n": 1}, [1]):
        with suppress(SqlFailure):
            assert statements_of([sql], params)


@pytest.mark.parametrize(
    ("sql", "is_query"),
    [
        ("SELECT 1", True),
        ("WITH x AS (INSERT INTO t VALUES (1) RETURNING id) SELECT * FROM x", True),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", False),
        ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", True),
        ("VALUES (1)", True),
        ("TABLE t", True),
        ("SELECT * INTO t FROM u", False),
        ("CREATE TABLE t AS SELECT 1", False),
        ("EXPLAIN SELECT 1", False),
        ("(SELECT 1)", False),
    ],
)
def test_only_what_surely_gives_rows_is_streamed(sql: str, is_query: bool) -> None:
    assert [s.is_query for s in statements_of([sql], None)] == [is_query]


@pytest.mark.parametrize(
    ("sql", "is_array"),
    [
        ("SELECT :v", False),
        ("SELECT x = ANY (:v)", True),
        ("SELECT :v::int[]", True),
        ("SELECT :v :: double precision []", True),
        ("SELECT :v::numeric(10)[]", True),
        ("SELECT CAST(:v AS text[])", True),
        ("SELECT :v::jsonb, x[1]", False),
        ("SELECT :v AS a", False),
    ],
)
def test_a_list_is_an_array_where_the_statement_says_so(sql: str, is_array: bool) -> None:
    (statement,) = statements_of([sql], {"v": []})
    assert [p for p in statement.parts if isinstance(p, Placeholder)] == [
        Placeholder("v", is_array)
    ]


def test_every_kind_of_the_table_exists() -> None:
    from anew.engine.outcome import RETRYABLE

    assert {kind for _, kind in KINDS_BY_SQLSTATE} <= set(RETRYABLE)
