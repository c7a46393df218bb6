"""What a cut leaves of a secret is redacted: its beginning, its end, its single lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.credentials import Credential, Redactor
from anew.credentials.fragments import STRETCH_CHARS_MIN
from anew.credentials.secret_forms import forms_of
from anew.engine.outcome import outcome_of
from tests.credentials.rings import redacted

LINES = [f"{number:02}" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwgg" * 2 for number in range(34)]
KEY = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n".format("\n".join(LINES))
TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.one.signature"
CUT = "\n… 9 bytes left out (ANEW_OUTPUT_BYTES_MAX) …\n"


def redactor_of(*secrets):
    redactor = Redactor()
    for number, secret in enumerate(secrets):
        redactor.learn(Credential(f"c{number}", "test", {"key": secret}))
    return redactor


def shown_of(secret, text):
    """The longest stretch of the secret that stands in the text."""
    counts = range(len(secret), 0, -1)
    starts = [(n, at) for n in counts for at in range(len(secret) - n + 1)]
    return next((n for n, at in starts if secret[at : at + n] in text), 0)


# Few letters, so that secrets repeat themselves and are parts of one another.
SECRETS = st.one_of(
    st.text("ab", min_size=24, max_size=40),
    st.text('abcé"\\ %/+', min_size=24, max_size=40),
    st.text(st.characters(codec="utf-8", exclude_characters="[redact]"), min_size=24, max_size=40),
)


@given(st.lists(SECRETS, min_size=1, max_size=3), st.text("xyz", max_size=20), st.data())
def test_no_cut_leaves_a_long_stretch_of_a_secret(secrets, around, data):
    whole = around + secrets[0] + around
    begin, end = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))
    redactor = redactor_of(*secrets)
    for text in (whole[:end], whole[begin:], whole[:end] + CUT + whole[begin:]):
        for shown in (redactor.redact_text(text), redacted(redactor, {"a": [text]})["a"][0]):
            assert shown_of(secrets[0], shown) < STRETCH_CHARS_MIN


@given(SECRETS, st.integers(0, 60), st.data())
def test_no_cut_leaves_a_long_stretch_of_an_encoded_form(secret, end, data):
    _, form = data.draw(st.sampled_from(list(forms_of(secret))))
    redactor = redactor_of(secret)
    for text in (f"x{form}"[:end], f"{form}x"[-end:]):
        assert shown_of(form, redactor.redact_text(text)) < STRETCH_CHARS_MIN


@given(st.text("ab[]…é\n", max_size=60), st.text("ab[]…é\n", min_size=17, max_size=40))
def test_what_is_no_secret_stays_as_it_is(text, secret):
    edges = secret[:STRETCH_CHARS_MIN], secret[-STRETCH_CHARS_MIN:]
    is_found = any(form in text for _, form in forms_of(secret))
    if not is_found and not any(edge in text for edge in edges):
        assert redactor_of("z" * 20, secret).redact_text(text) == text


def test_a_stretch_is_redacted_as_far_as_it_goes():
    redactor = redactor_of(TOKEN)
    assert redactor.redact_text(f"<{TOKEN[:20]}> {TOKEN}{TOKEN[-18:]}") == (
        "<[redacted]> [redacted][redacted]"
    )
    assert redactor.redact_text(TOKEN[:15]) == TOKEN[:15]


def test_a_secret_inside_a_longer_one_does_not_tear_it_apart():
    redactor = redactor_of("inside", f"{'a' * 4}inside{'b' * 40}")
    assert redactor.redact_text(f"{'a' * 4}inside{'b' * 30}") == "[redacted]"


@pytest.mark.parametrize("line", [LINES[0], LINES[7], LINES[-1]])
def test_each_line_of_a_secret_is_one(line):
    assert redactor_of(KEY).redact_text(f"  {line}.") == "  [redacted]."


def test_the_frame_of_a_key_and_short_lines_are_no_secrets():
    text = "-----BEGIN PRIVATE KEY-----\nother\n-----END PRIVATE KEY-----"
    outcome = outcome_of({"public": text, "word": "short"})
    assert redactor_of(KEY, "first line\nshort").redact_outcome(outcome).result == outcome.result


def test_data_that_begins_as_a_secret_does_stays_usable():
    other = TOKEN.replace("one", "two")
    outcome = outcome_of({"token": other}, logs={"stdout": other})
    found = redactor_of(TOKEN).redact_outcome(outcome)
    assert found.result == {"token": other}
    assert TOKEN[:STRETCH_CHARS_MIN] not in found.logs["stdout"]


def test_data_that_was_cut_is_redacted_at_the_cut():
    text = f"{TOKEN[:-9]}{CUT}{TOKEN[9:]} and {TOKEN}"
    found = redactor_of(TOKEN).redact_outcome(outcome_of({"stdout": text, TOKEN[:20] + "…": 1}))
    shown = f"[redacted]{CUT}[redacted] and [redacted]"
    assert found.result == {"stdout": shown, "[redacted]…": 1}


def test_the_texts_between_references_are_redacted_too():
    value = {"$secret": [f"{TOKEN[:20]}…", {"ref": TOKEN}]}
    assert redacted(redactor_of(TOKEN), value) == {"$secret": ["[redacted]…", {"ref": TOKEN}]}


def test_a_secret_that_repeats_one_letter_costs_no_more():
    shown = redactor_of("a" * 10_000).redact_text("a" * 200_000)
    assert shown == "[redacted]"
