"""The log in the words of graphs."""

from __future__ import annotations

from anew.views.nodes import ALIASES, NodeWords, nodes
from tests.views.graphs import ASK, FAIL, GATED, RACE, RACED, REDIRECTED, RESTARTS, drawn


def types(rows, *wanted: str) -> list[tuple[str, str]]:
    return [(row["type"], row["node_id"]) for row in rows if row["type"] in wanted]


def named(rows, name: str):
    return [row["data"] for row in rows if row["type"] == name]


def test_a_row_has_the_fields_of_the_contract() -> None:
    rows = nodes(drawn(REDIRECTED).log)
    keys = {"type", "run_id", "timestamp", "node_id", "seq", "data"}
    assert all(set(row) == keys and row["run_id"] == "1" for row in rows)
    assert [row["type"] for row in rows[:6]] == [
        "pipeline.started",
        "node.started",
        "checkpoint.created",
        "node.completed",
        "edge.selected",
        "node.started",
    ]
    assert rows[-1]["type"] == "pipeline.completed"


def test_every_type_has_the_other_dialects_name() -> None:
    rows = nodes(drawn(REDIRECTED, outcomes={"a": [FAIL]}).log)
    failed = [row["data"]["alias"] for row in rows if row["data"].get("status") == "FAILURE"]
    assert set(failed) == {"StageFailed"}
    others = [row for row in rows if row["data"]["alias"] != "StageFailed"]
    assert all(row["data"]["alias"] == ALIASES[row["type"]] for row in others)


def test_a_checkpoint_comes_before_each_retry_and_with_each_node() -> None:
    rows = nodes(drawn(REDIRECTED, outcomes={"a": [FAIL, {"status": "SUCCESS"}]}).log)
    told = types(rows, "checkpoint.created", "node.retrying", "node.completed")
    assert told[2:5] == [
        ("checkpoint.created", "a"),
        ("node.retrying", "a"),
        ("checkpoint.created", "a"),
    ]
    numbers = [data["number"] for data in named(rows, "checkpoint.created")]
    assert numbers == list(range(1, len(numbers) + 1))
    (retry,) = named(rows, "node.retrying")
    assert (retry["delay"], retry["target"], retry["attempt"]) == (1.0, "r", 1)


def test_an_edge_says_why_it_was_taken() -> None:
    rows = nodes(drawn(GATED, outcomes={"a": [{"status": "PARTIAL"}]}).log)
    ways = [(data["from"], data["to"], data["reason"]) for data in named(rows, "edge.selected")]
    assert ways == [
        ("s", "a", "weight"),
        ("a", "x", "condition"),
        ("x", "a", "gate"),
        ("a", "x", "condition"),
    ]
    assert named(rows, "pipeline.failed")[0]["unsatisfied"] == ["a"]
    assert [d["status"] for d in named(rows, "node.completed")].count("PARTIAL") == 2


def test_branches_fork_end_and_meet() -> None:
    rows = nodes(drawn(RACE, outcomes=RACED).log)
    (fork,) = named(rows, "parallel.fork")
    assert (fork["branches"], fork["join"]) == (["a", "b", "c"], "j")
    ended = [(data["branch"], data["status"]) for data in named(rows, "parallel.branch_completed")]
    assert ended == [("a", "FAILURE"), ("b", "SUCCESS")]
    (join,) = named(rows, "parallel.join")
    assert join["policy"] == "first_success"
    assert (join["status"], join["cancelled"]) == ("SUCCESS", ["c"])


def test_a_person_is_asked_and_responds_or_does_not() -> None:
    rows = nodes(drawn(ASK % "", outcomes={"h": [{"answer": "n"}]}).log)
    assert named(rows, "human.waiting")[0]["choices"] == ["[Y] Yes", "[N] No"]
    assert named(rows, "human.responded")[0]["label"] == "[N] No"
    late = nodes(drawn(ASK % "timeout=5 timeout_action=first").log)
    assert named(late, "human.timeout")[0] == {
        "alias": "InterviewTimeout",
        "action": "first",
        "label": "[Y] Yes",
    }


def test_statuses_are_in_the_words_of_the_dialect() -> None:
    rows = nodes(drawn(RESTARTS, outcomes={"b": [{"status": "needs_dod"}]}).log)
    said = {
        row["node_id"]: row["data"]["status"] for row in rows if row["type"] == "node.completed"
    }
    assert (said["a"], said["b"]) == ("success", "needs_dod")


def test_a_log_read_in_pieces_gives_the_same_rows() -> None:
    log = drawn(RACE, outcomes=RACED).log
    told = NodeWords()
    assert [row for event in log for row in told.rows([event])] == nodes(log)
