"""`anew record`: real runs on SQLite become scenarios that `anew test` passes."""

from __future__ import annotations

import base64
import gzip
import io
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from anew.lab.scenario import read_scenario
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

TIMELINES = Path(__file__).parents[2] / "timelines"
SENTINEL = "s3ntinel/with+odd=chars"
REAL = """\
metadata: {name: real}
workload: {pages: [1, 2, 3, 4], nap: 0.01}
workflow:
  - step: fetch
    loop: {in: "{{ workload.pages }}", iterator: page, spec: {mode: parallel, max_in_flight: 3}}
    tool:
      - get:
          kind: python
          code: |
            def main(page, attempt):
                if page % 2 == 0 and attempt < 3:
                    raise TimeoutError("slow")
                return {"rows": [page] * 30, "more": page < 3}
          args: {page: "{{ iter.page }}", attempt: "{{ _attempt }}"}
          spec:
            policy:
              rules:
                - {when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 3, backoff: exponential, delay: 0.01, jitter: true}}
                - {else: {then: {do: continue, set_iter: {rows: "{{ outcome.result.rows }}"}}}}
      - nap: {kind: sleep, seconds: "{{ workload.nap }}"}
    next: [{step: page}]
  - step: page
    tool:
      - turn:
          kind: noop
          result: {n: "{{ (iter.n | default(0)) + 1 }}"}
          spec: {policy: {rules: [{when: "{{ outcome.result.n < 4 }}", then: {do: jump, to: turn, set_iter: {n: "{{ outcome.result.n }}"}}}, {else: {then: {do: continue, set_ctx: {pages: "{{ outcome.result.n }}"}}}}]}}
"""
PRIVATE = """\
metadata: {name: private}
keychain: [{name: api}]
workflow:
  - step: leak
    tool:
      - shout:
          kind: shell
          command: printf '%s\\n' "$T" >&2; printf %s "$T" | base64; exit 3
          env: {T: "{{ keychain.api.token }}"}
          spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {said: "{{ outcome.error.message }}", same: "{{ keychain.api.token }}"}}}}]}}
      - headers:
          kind: python
          code: |
            def main(t):
                return {"headers": {"Set-Cookie": "sid=cookie-of-mine", "x": t}, "password": "hunter-22"}
          args: {t: "{{ keychain.api.token }}"}
"""


def recorded(desk: Desk, *words: str) -> Path:
    file = desk.folder / "out.scenario.yaml"
    said = desk.call("record", *words, "-o", str(file))
    assert said.status == 0, said.err
    assert said.out == ""
    return file


def passes(desk: Desk, file: Path) -> bool:
    said = desk.call("test", str(file))
    return said.status == 0


def test_a_real_run_of_loops_retries_waits_and_jumps_is_recorded(desk: Desk) -> None:
    file = desk.write("real.yaml", REAL)
    assert desk.call("run", file, "--quiet", "--set", "nap=0.02").status == 0
    scenario = recorded(desk, "last")
    read = read_scenario(scenario.read_text(), "x")
    assert read.document == "real.yaml"
    assert read.script.workload == {"nap": 0.02}
    assert len(read.script.drawn) == 4
    assert read.expect["attempts"]["get"] == 8
    assert passes(desk, scenario)
    run = desk.runs()[0]["run"]
    assert scenario.read_text().startswith(f"# Recorded from run {run} of real (")


def test_a_wrong_expectation_of_a_recorded_scenario_is_found(desk: Desk) -> None:
    desk.call("run", desk.write("real.yaml", REAL), "--quiet")
    scenario = recorded(desk, "last")
    scenario.write_text(scenario.read_text().replace("get: 8", "get: 7"))
    assert not passes(desk, scenario)


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0-servers"])
def test_people_signals_branches_gates_and_lost_workers_of_real_runs(
    desk: Desk, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = desk.folder / "golden.db"
    place.write_bytes(gzip.decompress((TIMELINES / version / "runs.db.gz").read_bytes()))
    monkeypatch.setenv("ANEW_DB", f"sqlite:///{place}")
    rows = desk.runs()
    assert {row["program"] for row in rows} >= {"branches", "silence", "signals", "held", "retries"}
    for row in rows:
        if row["program"] == "private":
            # It decides by the length of a credential, which no scenario has.
            said = desk.call("record", row["run"])
            assert said.status == 1
            assert "not true to the run. First difference: use#1: next.evaluated" in said.err
            continue
        suffix = "dot" if row["program"] in ("branches", "silence") else "yaml"
        document = str(desk.folder / f"doc.{suffix}")
        scenario = recorded(desk, row["run"], "--document", document, "--force")
        assert passes(desk, scenario), row


def test_no_form_of_a_secret_is_in_a_scenario(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    credential = {"type": "bearer", "data": {"token": SENTINEL}}
    monkeypatch.setenv("ANEW_CREDENTIAL_API", json.dumps(credential))
    assert desk.call("run", desk.write("private.yaml", PRIVATE), "--quiet").status == 0
    for words in ((), ("--full",), ("--json",)):
        said = desk.call("record", "last", *words)
        assert said.status == 0, said.err
        forms = [SENTINEL, quote(SENTINEL, safe=""), quote(SENTINEL)]
        forms += [base64.b64encode(SENTINEL.encode()).decode()[:20], "cookie-of-mine", "hunter-22"]
        assert [form for form in forms if form in said.out + said.err] == []
        assert "api.token" in said.out
    replay = desk.call("replay", "last")
    assert (replay.status, SENTINEL in replay.out) == (0, False)


def test_a_changed_document_is_told_and_the_one_that_ran_can_be_had(desk: Desk) -> None:
    desk.call("run", desk.write("real.yaml", REAL), "--quiet")
    desk.write("real.yaml", REAL.replace("attempts: 3", "attempts: 1"))
    said = desk.call("record", "last", "-o", "out.scenario.yaml")
    assert "real.yaml has changed since the run; --document OUT writes" in said.err
    assert not passes(desk, desk.folder / "out.scenario.yaml")
    desk.call("record", "last", "-o", "out.scenario.yaml", "--document", "ran.yaml")
    assert (desk.folder / "ran.yaml").read_text() == REAL
    assert passes(desk, desk.folder / "out.scenario.yaml")


SLOW = """\
metadata: {name: slow}
workflow:
  - step: a
    tool:
      - t:
          kind: shell
          command: sleep 5
          timeout: 50ms
          spec: {policy: {rules: [{when: "{{ outcome.error.kind == 'timeout' }}", then: {do: retry, attempts: 50, backoff: none, max_elapsed: 200ms}}]}}
"""


def test_real_timeouts_are_recorded_with_what_it_took_to_notice_them(desk: Desk) -> None:
    assert desk.call("run", desk.write("slow.yaml", SLOW), "--quiet").status == 1
    assert passes(desk, recorded(desk, "last"))


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("for _ in range(150): v = [v]", "nested deeper than 100 levels"),
        ("v = ['x' * 300] * 30_000", "larger than 8,388,608 bytes"),
    ],
)
def test_a_scenario_that_nobody_can_read_is_not_called_good(
    desk: Desk, result: str, told: str
) -> None:
    code = f"def main():\\n    v = 1\\n    {result}\\n    return v"
    document = f'workflow: [{{step: a, tool: {{kind: python, code: "{code}"}}}}]'
    assert desk.call("run", desk.write("large.yaml", document), "--quiet").status == 0
    said = desk.call("record", "last", "--full", "--json")
    assert said.status == 1
    assert said.json["is_true"] is True
    assert told in said.json["problem"]


def test_a_scenario_is_replaced_and_another_document_is_not(desk: Desk) -> None:
    desk.call("run", desk.write("real.yaml", REAL), "--quiet")
    out = desk.write("out.scenario.yaml", "old: 1")
    other = Path(desk.write("mine.yaml", "mine: 1"))
    said = desk.call("record", "last", "-o", out, "--document", str(other))
    assert (said.status, said.is_one_clear_line()) == (2, True)
    assert "mine.yaml is there already, with another content; --force replaces it" in said.err
    assert (other.read_text(), Path(out).read_text()) == ("mine: 1", "old: 1")
    recorded(desk, "last", "--document", str(other), "--force")
    assert other.read_text() == REAL
    recorded(desk, "last", "--document", str(other))  # the same one


def test_the_document_of_standard_input_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = io.BytesIO(b"workflow: [{step: s, tool: {kind: noop}}]")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(document))
    assert desk.call("run", "-", "--quiet").status == 0
    said = desk.call("record", "last")
    assert "the document came from standard input; --document OUT writes" in said.err


def test_the_json_object_says_whether_the_scenario_is_true(desk: Desk) -> None:
    desk.call("run", desk.write("real.yaml", REAL), "--quiet")
    told = desk.call("record", "last", "--json").json
    assert told["is_true"] is True
    assert told["difference"] is None
    assert told["scenario"]["expect"]["status"] == "done"


@pytest.mark.parametrize(
    ("words", "told"),
    [(["7351"], "there is no run 7351"), (["last"], "there are no runs yet")],
)
def test_a_run_that_is_not_there_is_one_clear_line(desk: Desk, words: list[str], told: str) -> None:
    (desk.folder / ".anew").mkdir()
    desk.call("run", desk.write("real.yaml", REAL), "--quiet") if words == ["7351"] else None
    said = desk.call("record", *words)
    assert said.is_one_clear_line()
    assert told in said.err or "database" in said.err


def test_a_run_that_waits_is_refused(desk: Desk) -> None:
    document = "workflow: [{step: s, tool: {kind: wait, signal: paid}}]"
    assert desk.call("run", desk.write("waits.yaml", document), "--quiet").status == 3
    said = desk.call("record", "last")
    assert (said.status, said.is_one_clear_line()) == (2, True)
    assert "has not ended, it is waiting" in said.err
