"""Which calls do something to the world once more, by their kind and inputs."""

import pytest

from anew.views.effects import CallKey, effect_of

RUN = "380496630082625536"


@pytest.mark.parametrize(
    ("kind", "inputs", "what"),
    [
        ("http", {"url": "http://x/a"}, None),
        ("http", {"url": "http://x/a", "method": "PUT"}, None),
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
        ("shell", {"command": ["a", "b"]}, "a; b"),
        ("python", {"code": "x = 1"}, "code"),
        ("python", {"script": "x.py"}, "script x.py"),
        ("agent", {"prompt": "Do it"}, "asks an agent: Do it"),
        ("playbook", {"path": "child"}, "starts a child run of child"),
        ("human", {"question": "Go on?"}, "asks a person: Go on?"),
        ("mine", {}, "a tool of which"),
        ("noop", {"result": 1}, None),
        ("sleep", {"seconds": 1}, None),
        ("wait", {"signal": "go"}, None),
    ],
)
def test_what_is_done_again_is_told_and_reading_is_not(kind, inputs, what):
    found = effect_of(kind, inputs, RUN)
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
    ],
)
def test_a_key_made_of_the_run_is_another_one_in_another_run(key, told):
    inputs = {"url": "http://x", "method": "POST", "idempotency_key": key}
    assert effect_of("http", inputs, RUN).key is told


def test_a_long_command_is_shortened():
    assert len(effect_of("shell", {"command": "x" * 1000}, RUN).what) == 80
