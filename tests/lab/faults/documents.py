"""Documents and scripts that the tests of faults play."""

from anew.lab.faults import FAULTS, simulate_faults
from anew.lab.faults.campaign import campaign_of
from anew.lab.script import script_of
from anew.languages import load_text

EVERY_FAULT = dict.fromkeys(FAULTS, 0.3)

RETRIED = """
workflow:
  - step: pay
    tool:
      - look: {kind: http, url: "http://bank/account"}
      - charge:
          kind: http
          method: POST
          url: http://bank/charge
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' and outcome.error.retryable }}"
                  then: {do: retry, attempts: 3, delay: 2, honor_retry_after: true}
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: fail}
                - else:
                    then: {do: continue, set_ctx: {paid: true}}
    next: tell
  - step: tell
    tool: {kind: shell, command: echo done}
"""

CHARGE = RETRIED.replace('      - look: {kind: http, url: "http://bank/account"}\n', "")

DOWN = {"error": {"kind": "server_error", "message": "503"}, "http": {"status": 503}, "takes": 0.4}
FLAKY = {"outcomes": {"charge": [{**DOWN, "times": 2}, {"result": {}, "takes": 1}]}}


def program_of(document, name="test.yaml"):
    loaded = load_text(document, name)
    assert loaded.program is not None, [finding.message for finding in loaded.findings]
    return loaded.program


# Far more than any of these needs.
EVENTS_MAX = 10_000


def played(document, script=None, *, faults=None, runs=50, seed=1, name="test.yaml"):
    program, said = program_of(document, name), script_of(script or {})
    rates = EVERY_FAULT if faults is None else faults
    return simulate_faults(program, said, faults=rates, runs=runs, seed=seed, events_max=EVENTS_MAX)


def campaign(document, script=None, *, faults, seed=1):
    return campaign_of(program_of(document), script_of(script or {}), rates=faults, seed=seed)


def runs_of(document, script=None, *, faults, number=30):
    playing = campaign(document, script, faults=faults)
    return [playing.play(index) for index in range(1, number + 1)]


def events_of(run, kind):
    return [event for event in run.simulation.log if isinstance(event, kind)]


def broken(report):
    return {one.invariant for record in report.records for one in record.broken}
