"""Nothing secret enters a log, and everything sealed opens to what it was."""

import asyncio
import itertools
import json
import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.engine.boundaries import Reported, Requested, Taken
from anew.engine.decide import decide
from anew.engine.events import to_row
from anew.engine.fold import fold
from anew.engine.outcome import Outcome, outcome_of
from anew.engine.record import Moment, Recorder
from anew.engine.render import Rejected, text_of, value_of
from anew.engine.scope import RunScope
from anew.engine.secrets import MissingSecret, Unavailable, reference_to
from anew.engine.state import RunState, RunStatus
from anew.expressions import ExpressionError, Template, compile_template
from anew.program.policy import OutcomeStatus
from anew.program.program import Dialect
from anew.weight import problem_of
from tests.credentials.rings import keychain_of, program_of, secrets_of

TOKEN = "s3cr3t-t0ken/ä+%"
PLAIN_TOKEN = "abcdef123456"

# Few letters, so that secrets overlap, contain each other and turn up by chance.
words = st.text('abZ0/+% "\\\n{$ä😀', min_size=1, max_size=12)
leaves = st.one_of(
    words, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
)


def with_secrets(known):
    """Values in which the given texts and their encoded forms are strewn."""
    encodings = (str, quote, quote_plus, lambda text: quote(text, safe=""), b64, json.dumps)
    encoded = st.builds(
        lambda text, form: form(text), st.sampled_from(known), st.sampled_from(encodings)
    )
    texts = st.lists(st.one_of(encoded, words), min_size=1, max_size=4).map("".join)
    keys = st.one_of(texts, st.just("$secret:x"))
    value = st.one_of(texts, leaves)
    for _ in range(2):
        value = st.one_of(
            value, st.lists(value, max_size=3), st.dictionaries(keys, value, max_size=3)
        )
    return value


def b64(text):
    return b64encode(text.encode()).decode()


def is_free(value):
    """Whether no key looks like a reference, as weighing makes sure."""
    if isinstance(value, dict):
        return all(k != "$secret" and is_free(v) for k, v in value.items())
    return all(map(is_free, value)) if isinstance(value, list) else True


def literals(value):
    """Every text of a sealed value that is not the name of a secret."""
    match value:
        case str() if value.startswith("$secret:["):
            yield from literals(json.loads(value.removeprefix("$secret:")))
        case str():
            yield value
        case {"$secret": list() as pieces}:
            yield from literals(pieces)
        case {"$secret": str()} | {"ref": _}:
            return
        case dict():
            for key, item in value.items():
                yield from literals(key)
                yield from literals(item)
        case list():
            for item in value:
                yield from literals(item)


@given(st.data(), st.lists(words, min_size=1, max_size=4, unique=True))
def test_what_is_sealed_opens_to_exactly_what_it_was(data, known):
    secrets = secrets_of({f"c{n}": {"token": text} for n, text in enumerate(known)})
    value = data.draw(with_secrets(known).filter(is_free))
    sealed = secrets.seal(value)
    assert json.dumps(secrets.open(json.loads(json.dumps(sealed)))) == json.dumps(value)


@given(st.data(), st.lists(words, min_size=1, max_size=4, unique=True))
def test_no_text_of_a_sealed_value_holds_a_secret(data, known):
    secrets = secrets_of({f"c{n}": {"token": text} for n, text in enumerate(known)})
    sealed = secrets.seal(data.draw(with_secrets(known).filter(is_free)))
    for text in literals(sealed):
        for secret in known:
            is_found = len(secret) >= 6 and (secret in text or quote(secret, safe="") in text)
            assert not is_found


@pytest.mark.parametrize("offset", range(3))
def test_a_password_inside_base64_is_found_wherever_it_begins(offset):
    secrets = secrets_of({"c": {"password": TOKEN}})
    header = f"Basic {b64('u' * offset + ':' + TOKEN + '!')}"
    sealed = secrets.seal({"Authorization": header})
    assert [
        piece["ref"] for piece in sealed["Authorization"]["$secret"] if isinstance(piece, dict)
    ] == ["c.password"]
    assert secrets.open(sealed) == {"Authorization": header}


@pytest.mark.parametrize(
    "form",
    [
        quote,
        lambda t: quote(t, safe=""),
        quote_plus,
        lambda t: re.sub("%..", lambda escape: escape[0].lower(), quote(t, safe="")),
        json.dumps,
        lambda t: json.dumps(t, ensure_ascii=False),
        b64,
        lambda t: urlsafe_b64encode(t.encode()).decode(),
    ],
)
def test_an_encoded_form_is_a_reference_too(form):
    secret = 'pä ss/word+\n"%😀'
    secrets = secrets_of({"c": {"password": secret}})
    text = f"x={form(secret)}&y"
    sealed = secrets.seal(text)
    assert any(isinstance(piece, dict) for piece in sealed["$secret"])
    assert secrets.open(sealed) == text


def test_a_whole_value_is_named_and_a_part_of_a_text_is_pieced():
    secrets = secrets_of({"github": {"token": PLAIN_TOKEN, "pin": 12345678}})
    assert secrets.seal(PLAIN_TOKEN) == {"$secret": "github.token"}
    assert secrets.seal(f"Bearer {PLAIN_TOKEN}") == {
        "$secret": ["Bearer ", {"ref": "github.token"}]
    }
    assert secrets.seal([12345678, 12345678.0, "12345678"]) == [
        {"$secret": "github.pin"},
        12345678.0,
        {"$secret": [{"ref": "github.pin"}]},
    ]


def test_the_longer_of_two_secrets_is_meant():
    secrets = secrets_of({"a": {"x": "hunter2"}, "b": {"x": "hunter2hunter3"}})
    assert secrets.seal("hunter2hunter3") == {"$secret": "b.x"}
    assert secrets.seal("hunter2hunter") == {"$secret": [{"ref": "a.x"}, "hunter"]}


def test_short_secrets_are_hidden_only_where_they_are_all():
    secrets = secrets_of({"a": {"pin": "12ab"}})
    assert secrets.seal(["12ab", "x12ab"]) == [{"$secret": "a.pin"}, "x12ab"]


def test_public_fields_stay_readable():
    secrets = secrets_of(
        {"pg": {"host": "db.example", "user": "reporter", "password": "swordfish"}}
    )
    assert secrets.seal("reporter@db.example") == "reporter@db.example"


def test_a_key_that_is_a_secret_is_sealed_and_stays_a_key():
    secrets = secrets_of({"a": {"x": "hunter22"}})
    sealed = secrets.seal({"hunter22": 1, "y": 2})
    assert "hunter22" not in json.dumps(sealed)
    assert secrets.open({**sealed, "z": 3}) == {"hunter22": 1, "y": 2, "z": 3}


def test_a_reference_to_a_whole_credential_opens_to_its_data():
    data = {"token": PLAIN_TOKEN, "url": "https://example.test"}
    secrets = secrets_of({"github": data})
    assert secrets.open({"x": reference_to("github")}) == {"x": data}


def test_an_unknown_reference_names_what_has_to_be_resolved():
    with pytest.raises(MissingSecret) as caught:
        secrets_of({"a": {"x": "hunter22"}}).open({"$secret": ["x", {"ref": r"my\.key.token"}]})
    assert caught.value.names == (r"my\.key",)


def test_a_field_that_is_gone_is_unavailable():
    with pytest.raises(Unavailable, match=r"has no 'a\.y' any more"):
        secrets_of({"a": {"x": "hunter22"}}).open({"$secret": "a.y"})


def test_large_values_without_secrets_are_walked_once(monkeypatch):
    secrets = secrets_of({"a": {"x": "hunter22"}})
    rows = [{"n": n} for n in range(1000)]
    assert secrets.open(rows) is rows
    monkeypatch.setattr(secrets, "_open_list", None)  # a second walk would call it
    assert secrets.open({"rows": rows})["rows"] is rows


# --- in a run ------------------------------------------------------------------------------------


class World:
    """A run moved by hand, with a keychain; its log goes through JSON as a store would."""

    def __init__(self, document, credentials):
        self.program = program_of(document)
        self.keychain = keychain_of(credentials)
        self.state, self.log, self.asks = RunState(), [], []
        self.clock = itertools.count(1)

    def do(self, boundary):
        secrets = asyncio.run(self.keychain.secrets_for(self.program))
        moment = Moment(next(self.clock), lambda: 0.5, secrets)
        try:
            transition = decide(self.program, self.state, boundary, moment)
        except MissingSecret as missing:
            self.keychain.learn(self.program, missing)
            self.state = fold(self.log)
            return self.do(boundary)
        self.log.extend(transition.events)
        if transition.ask is not None:
            self.asks.append(transition.ask)
        for key in transition.jobs:
            self.do(Taken(key))
        return transition

    def start(self):
        self.do(Requested("1", {}))
        return self

    def inputs(self):
        """What the tool that is asked for now would be given."""
        return asyncio.run(self.keychain.open(self.asks[-1].inputs, self.program))

    def report(self, outcome=None):
        ask = self.asks[-1]
        self.do(Reported(ask.key, outcome or outcome_of({}), ask.started))
        return self

    def text(self):
        return json.dumps([to_row(event) for event in self.log], ensure_ascii=False)


EVERYWHERE = """
keychain: [{name: gh, auth: github, map: {bearer: token}}]
workflow:
- step: start
  tool:
  - call:
      kind: http
      url: "http://x.test/?token={{ keychain.gh.bearer | urlencode }}"
      headers:
        Authorization: "Basic {{ ('me:' ~ keychain.gh.bearer) | b64encode }}"
        X-All: "{{ keychain.gh }}"
      spec:
        policy:
          rules:
          - when: "{{ keychain.gh.bearer == 'no' }}"
            then: {do: fail}
          - else: {then: {do: continue, set_ctx: {header: "Bearer {{ keychain.gh.bearer }}", deep: {er: ["{{ keychain.gh.bearer }}"]}}}}
  next:
    arcs:
    - {step: each, when: "{{ ctx.header == 'Bearer ' ~ keychain.gh.bearer }}", args: {given: "{{ ctx.header }}"}}
- step: each
  loop: {in: "{{ [args.given, ctx.deep.er[0]] }}", iterator: item}
  tool:
  - say:
      kind: noop
      result: "<{{ iter.item }}>"
      spec:
        policy:
          rules:
          - else: {then: {do: fail, message: "{{ iter.item }} is wrong"}}
"""


def test_no_event_of_a_run_holds_a_secret():
    world = World(EVERYWHERE, {"github": {"token": TOKEN}}).start()
    assert world.inputs() == {
        "url": f"http://x.test/?token={quote(TOKEN)}",
        "headers": {"Authorization": f"Basic {b64('me:' + TOKEN)}", "X-All": {"bearer": TOKEN}},
    }
    world.report()
    assert world.inputs() == {"result": f"<Bearer {TOKEN}>"}
    world.report()
    assert world.inputs() == {"result": f"<{TOKEN}>"}
    world.report()
    assert world.state.status is RunStatus.FAILED
    assert "is wrong" in world.state.failure["message"]
    for form in (TOKEN, quote(TOKEN), quote(TOKEN, safe=""), b64(TOKEN), b64("me:" + TOKEN)):
        assert form not in world.text()


SET = """
keychain: [{name: gh, auth: github}]
workflow:
- step: start
  tool: {kind: noop, set: {own: "{{ keychain.gh.token }}"}}
  set: {ctx.whole: "{{ keychain.gh.token }}"}
  next: {arcs: [{step: use, set: {ctx.header: "Bearer {{ ctx.whole }}"}}]}
- step: use
  tool: {kind: noop, result: "{{ [ctx.whole, ctx.header] }}"}
"""


def test_what_tasks_steps_and_arcs_write_holds_references_to_secrets():
    world = World(SET, {"github": {"token": TOKEN}}).start().report()
    assert world.inputs() == {"result": [TOKEN, f"Bearer {TOKEN}"]}
    assert TOKEN not in world.text()
    processed, routed = (
        next(to_row(one)["data"] for one in world.log if one.name == name)
        for name in ("task.processed", "next.evaluated")
    )
    assert processed["patches"] == {"local": {"own": {"$secret": "github.token"}}}
    assert routed["patches"]["ctx"]["whole"] == {"$secret": "github.token"}


TOOL = """
workflow:
- step: start
  tool:
  - secret: {kind: secrets, name: "{{ workload.which | default('github') }}"}
  - use: {kind: http, url: "http://x.test/{{ secret.token }}", headers: {A: "{{ secret.token }}"}}
"""


def test_later_templates_read_what_the_secrets_tool_refers_to():
    world = World(TOOL, {"github": {"token": TOKEN}}).start()
    world.report(Outcome(OutcomeStatus.OK, reference_to("github")))
    assert world.inputs() == {"url": f"http://x.test/{TOKEN}", "headers": {"A": TOKEN}}
    assert TOKEN not in world.text()
    assert '"result": {"$secret": "github"}' in world.text()


def test_a_missing_credential_is_a_reference_error_where_it_is_read():
    document = "keychain: [{name: gh}]\nworkflow: [{step: a, tool: {kind: http, url: '{{ keychain.gh.url }}'}}]"
    world = World(document, {}).start()
    assert world.state.failure["kind"] == "reference"
    assert "anew credential add gh" in world.state.failure["message"]


@pytest.mark.parametrize(
    "read", ["keychain['gh'].token", "keychain.gh['token']", "keychain.get('gh')"]
)
def test_a_missing_credential_is_noticed_however_it_is_read(read):
    document = f'keychain: [{{name: gh}}]\nworkflow: [{{step: a, tool: {{kind: noop, result: "{{{{ {read} }}}}"}}}}]'
    assert World(document, {}).start().state.failure["kind"] == "reference"


def test_a_keychain_nobody_reads_may_be_missing():
    document = "keychain: [{name: gh}]\nworkflow: [{step: a, tool: {kind: noop}}]"
    assert World(document, {}).start().report().state.status is RunStatus.DONE


def test_an_error_message_quotes_no_secret():
    document = "keychain: [{name: gh}]\nworkflow: [{step: a, tool: {kind: noop, result: '{{ keychain.gh.token | fromjson }}', x: '{{ keychain.gh.token + 1 }}'}}]"
    world = World(document, {"gh": {"token": TOKEN}}).start()
    assert world.state.failure["kind"] == "expression"
    assert TOKEN not in world.text()


def test_an_expression_that_quotes_a_value_quotes_no_secret():
    def failing(_scope):
        raise ExpressionError(f"{TOKEN} is odd", source="x", offset=0)

    moment = Moment(1, lambda: 0.5, secrets_of({"gh": {"token": TOKEN}}))
    recorder = Recorder(program_of(TOOL), RunState(), moment)
    with pytest.raises(Rejected) as caught:
        value_of(Template("{{ x }}", failing), RunScope(recorder, Dialect.POLICY), "inputs")
    assert caught.value.error["message"] == "inputs: [redacted] is odd in {{ x }}"


def test_a_text_for_people_has_its_secrets_masked():
    moment = Moment(1, lambda: 0.5, secrets_of({"gh": {"token": TOKEN}}))
    scope = RunScope(Recorder(program_of(TOOL), RunState(), moment), Dialect.POLICY)
    template = compile_template("{{ keychain.gh.token }} is wrong")
    assert text_of(template, scope, "message") == "[redacted] is wrong"


def test_a_secret_that_is_no_delay_is_not_quoted():
    document = """
    keychain: [{name: gh}]
    workflow:
    - step: a
      tool:
      - t: {kind: noop, spec: {policy: {rules: [{else: {then: {do: jump, to: t, delay: "{{ keychain.gh.token }}"}}}]}}}
    """
    world = World(document, {"gh": {"token": TOKEN}}).start().report()
    assert "is not a delay" in world.state.failure["message"]
    assert TOKEN not in world.text()


def test_an_author_cannot_write_a_reference_by_hand():
    document = "keychain: [{name: gh}]\nworkflow: [{step: a, tool: {kind: noop, result: {$secret: gh.token}}}]"
    world = World(document, {"gh": {"token": TOKEN}}).start()
    assert "marks secrets" in world.state.failure["message"]


def test_what_the_log_holds_may_be_weighed_again():
    sealed = secrets_of({"gh": {"token": TOKEN}}).seal([TOKEN, {TOKEN: 1}])
    assert problem_of(sealed) is not None
    assert problem_of(sealed, is_sealed=True) is None


def test_an_answer_that_looks_like_a_reference_is_refused():
    outcome = outcome_of({"data": {"$secret": "gh.token"}})
    assert outcome.is_error
    assert "marks secrets" in outcome.error["message"]
