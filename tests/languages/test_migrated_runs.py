"""A migrated playbook runs as the original did: same visits, delays, ctx and error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.values import Object
from tests.languages.documents import RETRY_CONDITIONS

CASES = json.loads((Path(__file__).parents[1] / "conformance" / "playbook.json").read_text())
KEYS = ("status", "visits", "attempts", "delays", "elapsed", "ctx", "error", "handled")
BROKEN = {
    "error": {"kind": "server_error", "message": "Timeout: rate limit, out of memory"},
    "http": {"status": 503, "headers": {}},
}
FINE = {
    "result": {"status_code": 200, "data": {"word": "Yes"}},
    "http": {"status": 200, "headers": {}},
}
WORDS = ["{{ error }}", "{{ data.word }}", "{{ success }}", "{{ attempt }}", "{{ result }}", "true"]
SCRIPTS: list[list[Object]] = [
    [BROKEN],
    [FINE],
    [BROKEN, FINE],
    [FINE, BROKEN],
    [{"error": {"kind": "connection", "message": "yes"}}, {"result": "1"}],
]


def run(text: str, script: Object) -> Object:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    report = simulate(loaded.program, script_of(script)).report()
    return {key: report[key] for key in KEYS}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_conformance_case_runs_the_same_after_migration(case: Object) -> None:
    migrated = migrate(case["yaml"], "f.yaml")
    assert migrated.findings == []
    assert run(migrated.text, case["script"]) == run(case["yaml"], case["script"])


@pytest.mark.parametrize("outcomes", SCRIPTS)
@pytest.mark.parametrize("condition", [*RETRY_CONDITIONS, *WORDS])
@pytest.mark.parametrize("key", ["retry_when", "stop_when"])
def test_a_retry_condition_holds_where_it_held(
    key: str, condition: str, outcomes: list[Object]
) -> None:
    text = (
        "workflow:\n- step: a\n  tool: http\n  url: u\n"
        f'  retry: {{max_attempts: 4, backoff_multiplier: 3, {key}: "{condition}"}}\n'
    )
    script = {"outcomes": {"a": outcomes}, "random": 0.25}
    assert run(migrate(text, "f.yaml").text, script) == run(text, script)
