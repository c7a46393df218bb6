"""Events and snapshots come back as they were, whatever is in them."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.fold import evolve
from anew.engine.outcome import outcome_of
from anew.engine.state import RunState
from anew.errors import ConfigError, EngineBug
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.program.policy import DirectiveKind
from anew.store import RunId, StoredEvent
from anew.stores import codec
from anew.stores.codec import (
    INLINE_BYTES_MAX,
    checksums_in,
    decode_event,
    decode_snapshot,
    encode_events,
    encode_snapshot,
    snapshot_format,
)
from anew.stores.damage import DamagedRun
from tests.generated import playbooks, scripts
from tests.suites import tried

RUN = RunId(7)
LARGE = "x" * (INLINE_BYTES_MAX + 1)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(st.characters(codec="utf-8"))
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def there_and_back(events):
    rows, blobs = encode_events(events, after=events[0].seq - 1)
    kept = {blob.checksum: blob.data for blob in blobs}
    return [decode_event(RUN, row, kept) for row in rows]


def processed(seq=1, result=None, **patches):
    return e.TaskProcessed(
        seq=seq, outcome=outcome_of(result), directive=DirectiveKind.CONTINUE, patches=patches
    )


@given(values, values, values)
def test_any_value_comes_back(result, patch, inputs):
    events = [
        processed(1, result, x=patch, y=LARGE),
        e.TaskStarted(seq=2, task_visit=1, inputs=inputs),
        processed(3, result, x=patch),
    ]
    assert there_and_back(events) == events


@tried(
    playbooks(),
    scripts(),
    examples=15,
    long=(45,),
    suppress=(HealthCheck.too_slow, HealthCheck.filter_too_much),
)
def test_a_snapshot_at_any_event_is_the_state_at_that_event(document, script):
    program = load_text(document, "generated.yaml").program
    try:
        run = simulate(program, script_of(script), events_max=200)
    except ConfigError:
        assume(False)  # goes in circles for ever, as the generator may ask
    state = RunState()
    for event in there_and_back(run.log):
        evolve(state, event)
        read = decode_snapshot(snapshot_format(), encode_snapshot(state))
        assert read == state
        assert list(read.active) == list(state.active)
    assert state == run.state


def test_a_small_event_is_one_row_and_a_large_one_keeps_its_place_in_the_log():
    rows, blobs = encode_events(
        [processed(1, "small"), processed(2, {"data": LARGE}, n=1)], after=0
    )
    assert (len(blobs), rows[0].replaced) == (1, None)
    data = msgspec.json.decode(rows[1].data)
    reference = data["outcome"]["result"]["$ref"]
    assert reference["ref"] == f"blob:{blobs[0].checksum}"
    assert reference["checksum"] == f"sha256:{blobs[0].checksum}"
    assert reference["size"] == len(blobs[0].data)
    assert data["patches"] == {"n": 1}
    assert checksums_in(rows) == {blobs[0].checksum}


def test_exactly_as_much_as_fits_is_inline():
    shell = len(encode_events([processed(1, "")], after=0)[0][0].data)
    fits, too_much = (
        processed(1, "x" * (INLINE_BYTES_MAX - shell)),
        processed(1, "x" * (INLINE_BYTES_MAX - shell + 1)),
    )
    assert encode_events([fits], after=0)[1] == []
    assert len(encode_events([too_much], after=0)[1]) == 1


def test_the_same_value_is_one_blob():
    rows, blobs = encode_events([processed(1, LARGE, a=LARGE), processed(2, LARGE)], after=0)
    assert len(blobs) == 3
    assert len({blob.checksum for blob in blobs}) == 1
    assert all(len(row.data) < 1000 for row in rows)


def test_only_what_has_to_go_is_kept_apart():
    half = "x" * (INLINE_BYTES_MAX // 2)
    rows, blobs = encode_events([processed(1, half, a="y" * 40_000, b="z" * 2000)], after=0)
    assert len(blobs) == 1
    assert INLINE_BYTES_MAX // 2 < len(rows[0].data) <= INLINE_BYTES_MAX


def test_a_gap_in_the_log_is_our_bug():
    with pytest.raises(EngineBug, match="seq 3 where 2 is next"):
        encode_events([processed(1), processed(3)], after=0)


@pytest.mark.parametrize(("found", "word"), [(None, "missing"), (b"1", "damaged")])
def test_a_lost_blob_names_run_and_event(found, word):
    rows, (blob,) = encode_events([processed(1), processed(2, LARGE)], after=0)
    kept = {blob.checksum: found} if found is not None else {}
    with pytest.raises(
        DamagedRun, match=rf"run 7 is damaged at event 2: .*'outcome.result' .* is {word}"
    ):
        decode_event(RUN, rows[1], kept)


@pytest.mark.parametrize(
    "row",
    [
        StoredEvent(4, 0, "task.vanished", "{}"),
        StoredEvent(4, 0, "run.done", "{"),
        StoredEvent(4, 0, "run.failed", "{}"),
    ],
)
def test_an_event_that_cannot_be_read_names_run_and_event(row):
    with pytest.raises(DamagedRun, match=r"run 7 is damaged at event 4: .*task.vanished|its run"):
        decode_event(RUN, row, {})


@pytest.mark.parametrize(
    ("name", "field", "word"),
    [
        ("task.processed", "directive", "hurry"),
        ("task.retry_scheduled", "backoff", "fibonacci"),
        ("task.retry_scheduled", "jitter", "lunar"),
        ("step.done", "verdict", "splendid"),
    ],
)
def test_a_word_of_a_newer_version_is_named_with_its_place(name, field, word):
    row = StoredEvent(4, 0, name, json.dumps({field: word}))
    with pytest.raises(
        DamagedRun, match=rf"run 7 is damaged at event 4: its {name} .*{word}.*{field}"
    ):
        decode_event(RunId(7), row, {})


def test_a_snapshot_of_another_version_is_ignored():
    data = encode_snapshot(RunState(version=3))
    assert decode_snapshot(snapshot_format(), data) == RunState(version=3)
    assert decode_snapshot("0-00000000", data) is None
    assert decode_snapshot(snapshot_format(), data[:-1]) is None
    assert decode_snapshot(snapshot_format(), b"\xc1") is None


def test_a_new_field_of_the_state_is_a_new_format(monkeypatch):
    class Token(msgspec.Struct):
        id: int
        colour: str

    before = snapshot_format()
    changed = tuple(Token if kind.__name__ == "Token" else kind for kind in codec._STATE_TYPES)
    monkeypatch.setattr(codec, "_STATE_TYPES", changed)
    assert snapshot_format.__wrapped__() != before
