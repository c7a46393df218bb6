"""Remedies: the name that was meant, the place a key belongs to, at a bounded cost."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.program import findings
from anew.program.findings import _CANDIDATES_MAX, _SEARCHES_MAX, Finding, near

STEP = "workflow:\n- step: a\n"


def found_in(text: str) -> list[Finding]:
    return load_playbook(text, "f.yaml").findings


def only(text: str) -> Finding:
    (found,) = found_in(text)
    return found


def test_a_document_full_of_misspelt_names_is_searched_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counting(word: str, known: object, likeness: float) -> str | None:
        asked.append(word)
        return None

    monkeypatch.setattr(findings, "near", counting)
    steps = "".join(f"- step: step_number_{i}\n  next: stp_numbr_{i}\n" for i in range(200))
    found = found_in("workflow:\n" + steps)
    assert len(asked) == _SEARCHES_MAX
    assert [f.rule for f in found] == ["arc.unknown-step"] * 200
    assert all(f.suggestion for f in found)


def test_the_name_that_was_meant_is_found_among_very_many() -> None:
    known = [f"step_number_{i}" for i in range(50 * _CANDIDATES_MAX)]
    assert near("stp_numbr_3217", known) == "step_number_3217"


def test_few_names_are_compared_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counting(_word: str, known: list[str], **_: object) -> list[str]:
        compared.append(len(known))
        return []

    monkeypatch.setattr("difflib.get_close_matches", counting)
    near("stp", [f"step_{i}" for i in range(1000)])
    assert compared[0] <= _CANDIDATES_MAX


def test_where_no_name_is_near_the_first_of_them_are_listed() -> None:
    steps = "".join(f"- step: s{i}\n" for i in range(12))
    (found,) = [
        f
        for f in found_in("executor: {spec: {entry_step: elsewhere}}\nworkflow:\n" + steps)
        if f.rule == "entry.unknown"
    ]
    assert found.suggestion == "Known are 's0', 's1', 's10', 's11', 's2', 's3', 's4', 's5', …."


# where a key stands, and what the remedy names
MISPLACED = [
    ("  tool: {kind: noop, spec: {polcy: {rules: []}}}\n", "Did you mean 'policy'?"),
    ("  tool: {kind: noop, policy: {rules: []}}\n", "`spec: {policy: …}`"),
    ("  tool: {kind: noop, spec: {retry: 3}}\n", "next to `kind`"),
    ("  tool: {kind: noop, next: a}\n", "to the step"),
    ("  tool: {kind: noop}\n  arcs: []\n", "`next: {arcs: […]}`"),
    ("  tool: {kind: noop}\n  join: each\n", "`spec: {join: each}`"),
]


@pytest.mark.parametrize(("text", "remedy"), MISPLACED)
def test_a_key_in_the_wrong_place_is_told_its_right_one(text: str, remedy: str) -> None:
    found = only(STEP + text)
    assert found.rule == "key.unknown"
    assert remedy in (found.suggestion or "")


@pytest.mark.parametrize("word", ["previous", "prev", "@previous"])
def test_a_jump_by_position_is_shown_the_form_with_a_label(word: str) -> None:
    rule = f"{{else: {{then: {{do: jump, to: '{word}'}}}}}}"
    found = only(STEP + f"  tool: [{{t: {{kind: noop, spec: {{policy: {{rules: [{rule}]}}}}}}}}]\n")
    assert found.rule == "rule.jump-unknown"
    assert "`to: <label>`" in (found.suggestion or "")


def test_a_loop_over_a_cursor_is_shown_a_loop_over_rows() -> None:
    found = only(STEP + "  loop: {cursor: {kind: postgres}, iterator: row, spec: {mode: cursor}}\n")
    assert found.rule == "dialect.unsupported"
    assert "loop: {in:" in (found.suggestion or "")


def test_on_no_match_is_told_to_have_no_effect() -> None:
    found = only(STEP + "  next: {spec: {on_no_match: quiet}, arcs: []}\n")
    assert (found.severity, found.rule) == ("info", "key.without-effect")


def test_an_empty_word_is_called_empty() -> None:
    found = only(STEP + "  next: {spec: {mode: }, arcs: []}\n")
    assert found.message == "mode is empty; it is one of exclusive, inclusive, preferred, fork"


@pytest.mark.parametrize("word", ["null", "nil"])
def test_another_languages_word_for_nothing_is_answered_with_ours(word: str) -> None:
    found = only(STEP + f"  tool: {{kind: noop, result: '{{{{ {word} }}}}'}}\n")
    assert (found.rule, found.suggestion) == ("name.unknown", "Did you mean 'none'?")
