"""`anew simulate`: a document in virtual time, from the outside."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main

FLOW = """\
metadata: {name: flaky}
workload: {region: us, limits: {pages: 1}}
workflow:
  - step: fetch
    tool:
      - fetch:
          kind: http
          method: GET
          url: "http://{{ workload.region }}/{{ workload.limits.pages }}"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, backoff: fixed, delay: 2.0}
                - else:
                    then: {do: continue}
"""

FAILS_TWICE = """\
outcomes:
  fetch:
    - {error: {kind: server_error, message: "503"}, times: 2}
    - {result: {data: 1}}
"""

FAILS_ALWAYS = "outcomes: {fetch: [{error: {kind: server_error, message: '503'}}]}\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flow.yaml").write_text(FLOW)
    Path("twice.yaml").write_text(FAILS_TWICE)
    Path("always.yaml").write_text(FAILS_ALWAYS)


def report(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    main(["simulate", "flow.yaml", "--json", *words])
    return json.loads(capsys.readouterr().out)


def test_the_text_is_a_timeline_with_a_closing_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "flow.yaml", "--script", "twice.yaml"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[-1] == "done after 4.000 virtual seconds"
    assert sum("task fetch started" in line for line in lines) == 3
    assert captured.err == ""


def test_a_failed_run_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "flow.yaml", "--script", "always.yaml"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "failed after 4.000 virtual seconds"


def test_without_a_script_everything_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys)["status"] == "done"


def test_json_is_the_only_thing_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, "--script", "twice.yaml")
    assert told["status"] == "done"
    assert told["attempts"] == {"fetch": 3}
    assert [delay["seconds"] for delay in told["delays"]] == [2.0, 2.0]
    assert told["events"][0]["name"] == "run.requested"


def test_json_speaks_the_words_that_were_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, "--script", "twice.yaml", "--words", "actions")
    assert [row["name"] for row in told["events"][:3]] == [
        "action_started",
        "action_error",
        "step_retry",
    ]


def test_text_in_words_has_one_line_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "flow.yaml", "--script", "always.yaml", "--words", "actions"]
    assert main(words) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "step_retry_exhausted" in lines[-4]
    assert "step_failed_terminal" in lines[-3]
    assert "execution_failed" in lines[-2]


def url_of(told: dict) -> str:
    started = next(row for row in told["events"] if row["name"] == "task.started")
    return started["data"]["inputs"]["url"]


def test_settings_and_payload_change_the_workload(capsys: pytest.CaptureFixture[str]) -> None:
    Path("payload.json").write_text('{"region": "asia", "limits": {"pages": 7}}')
    assert url_of(report(capsys)) == "http://us/1"
    assert url_of(report(capsys, "--set", "limits.pages=3")) == "http://us/3"
    told = report(capsys, "--payload", "@payload.json", "--set", "region=eu")
    assert url_of(told) == "http://eu/7"


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "novalue"],
        ["--set", "a..b=1"],
        ["--payload", "{"],
        ["--payload", "[1]"],
        ["--payload", "@missing.json"],
        ["--script", "missing.yaml"],
    ],
)
def test_an_unusable_argument_is_refused_with_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "flow.yaml", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("anew: ")
    assert captured.err.count("\n") == 1


def test_a_document_with_errors_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("flow.yaml").write_text(FLOW.replace("do: retry", "do: rety"))
    assert main(["simulate", "flow.yaml", "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("flow.yaml:14:")


def test_a_script_with_errors_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("twice.yaml").write_text("outcomes: [1, 2]\n")
    assert main(["simulate", "flow.yaml", "--script", "twice.yaml"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "twice.yaml" in captured.err


def test_standard_input_is_read_for_one_thing_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"workflow: [{step: a}]")))
    assert main(["simulate", "-", "--script", "-"]) == 2
    assert "standard input is named twice" in capsys.readouterr().err


def test_a_name_cannot_move_the_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = b'workflow: [{step: "a\\e[2Jb", tool: {kind: noop}}]'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(document)))
    assert main(["simulate", "-"]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "payload", ['{"x": 1e999}', '{"x": "\\ud800"}', '{"x": 1' + "0" * 30 + "}"]
)
def test_a_payload_no_log_could_hold_is_refused(
    payload: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"workflow: [{step: a}]")))
    assert main(["simulate", "-", "--payload", payload]) == 2
    assert "the input has" in capsys.readouterr().err


ASKED = (
    'digraph g { s [shape=Mdiamond]; x [shape=Msquare]; a [prompt="$who, ${more.of}"]; s->a->x }'
)


@pytest.mark.parametrize(
    ("words", "missed"),
    [
        ([], ["$who", "${more.of}"]),
        (["--set", "who=ann"], ["${more.of}"]),
        (["--payload", '{"who": "ann", "more": {"of": 1}}'], []),
        (["--script", "given.yaml"], ["${more.of}"]),
        (["--script", "given.yaml", "--set", "more.of=1"], []),
    ],
)
def test_a_variable_that_the_workload_has_is_not_missed(
    words: list[str], missed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("flow.dot").write_text(ASKED)
    Path("given.yaml").write_text("workload: {who: ann}")
    assert main(["simulate", "flow.dot", *words]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "unused-variables" in line]
    assert [line.split(" gives ")[1].split(" of node ")[0] for line in told] == missed


def test_an_answer_that_fits_no_choice_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    tool = '{kind: human, question: "Ship?", choices: ["[Y] Yes", "[N] No"]}'
    Path("ask.yaml").write_text(f"workflow: [{{step: review, tool: {tool}}}]\n")
    Path("perhaps.yaml").write_text("outcomes: {review: [{answer: perhaps}]}\n")
    main(["simulate", "ask.yaml", "--script", "perhaps.yaml"])
    place = "perhaps.yaml: warning: outcomes.review[0].answer"
    said = f"{place} 'perhaps' is none of the choices: [Y] Yes, [N] No\n"
    assert capsys.readouterr().err == said
