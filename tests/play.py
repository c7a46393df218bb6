"""Play a playbook written in a test against a script, in virtual time."""

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text

BOOM = {"error": {"kind": "python_error", "message": "boom"}}
DOWN = {"error": {"kind": "server_error", "message": "503"}, "http": {"status": 503}}


def simulated(document, **script):
    loaded = load_text(document, "test.yaml")
    assert loaded.program is not None, [f"{f.place} {f.rule} {f.message}" for f in loaded.findings]
    return simulate(loaded.program, script_of(script))


def play(document, **script):
    return simulated(document, **script).report()


def names(report):
    return [event["name"] for event in report["events"]]


def rows(report, name):
    return [event for event in report["events"] if event["name"] == name]
