"""Which calls do something to the world once more, by their kind and inputs."""

import pytest

from anew.views.effects import CallKey, effect_of

RUN = "380496630082625536"
FIRST = "380496630082620000"  # the run whose fork RUN is


@pytest.mark.parametrize(
    ("kind", "inputs", "what"),
    [
        ("http", {"url": "http://x/a"}, None),
        ("http", {"url": "http://x/a", "method": "head"}, None),
        ("http", {"url": "http://x/a", "method": "PUT"}, "PUT http://x/a"),
        ("http", {"url": "http://x/a", "method": "DELETE"}, "DELETE http://x/a"),
        ("http", {"url": "http://x/a", "method": "post"}, "POST http://x/a"),
        ("http", {"url": {"$secret": "u"}, "method": "PATCH"}, 'PATCH {"$secret": "u"}'),
        ("sqlite", {"command": "select 1"}, None),
        (
            "postgres",
            {"command": "-- insert\nSELECT 1; /* x */ with a as (select 1) table a"},
            None,
        ),
        ("postgres", {"command": "with a as (delete from t returning *) select 1"}, "with a as"),
        ("duckdb", {"command": ["select 1", "create table t (n int)"]}, "create table t"),
        ("postgres", {"command": "select setval('s', 1)"}, "select setval"),
        ("sqlite", {"command": "select '--' as a; delete from t"}, "delete from t"),
        ("sqlite", {"command": "select '/*'; delete from t; select '*/'"}, "delete from t"),
        ("sqlite", {"command": 'select "a--b"; delete from t'}, "delete from t"),
        ("sqlite", {"command": "select [a--b]; delete from t"}, "delete from t"),
        ("postgres", {"command": "select $q$--$q$; delete from t"}, "delete from t"),
        ("postgres", {"command": r"select E'it\'s --'; delete from t"}, "delete from t"),
        ("postgres", {"command": "select 'it''s; delete from t'"}, None),
        ("postgres", {"command": "-- it's\nselect 'insert'"}, None),
        ("postgres", {"command": "select \"setval\"('s', 1)"}, "select"),
        ("postgres", {"command": f"select {'1, ' * 5_000} 1"}, "select 1, 1"),
        ("shell", {"command": ["a", "b"]}, "a; b"),
        ("python", {"code": "x = 1"}, "code"),
        ("python", {"script": "x.py"}, "script x.py"),
        ("python", {"script": {"uri": "x.py", "source": {"type": "http"}}}, "script x.py"),
        ("sqlite", {"script": "x.sql"}, "script x.sql"),
        ("artifact", {"action": "put", "name": "x", "value": 1}, "keeps the artifact x"),
        ("artifact", {"action": "get", "name": "x"}, None),
        ("agent", {"prompt": "Do it"}, "asks an agent: Do it"),
        ("playbook", {"path": "child"}, "starts a child run of child"),
        ("human", {"question": "Go on?"}, "asks a person: Go on?"),
        ("mine", {}, "unknown effect"),
        ("noop", {"result": 1}, None),
        ("sleep", {"seconds": 1}, None),
        ("wait", {"signal": "go"}, None),
    ],
)
def test_what_is_done_again_is_told_and_reading_is_not(kind, inputs, what):
    found = effect_of(kind, inputs, {RUN})
    assert (found is None) == (what is None)
    assert found is None or found.what.startswith(what)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (None, CallKey.NONE),
        (False, CallKey.NONE),
        (True, CallKey.NEW),
        ("order-17", CallKey.OWN),
        (f"{RUN}-17", CallKey.NEW),
        (f"{FIRST}-17", CallKey.NEW),
    ],
)
def test_a_key_made_of_the_run_is_another_one_in_another_run(key, told):
    inputs = {"url": "http://x", "method": "POST", "idempotency_key": key}
    assert effect_of("http", inputs, {FIRST, RUN}).key is told


def test_a_long_command_is_shortened():
    assert len(effect_of("shell", {"command": "x" * 1000}, {RUN}).what) == 80
