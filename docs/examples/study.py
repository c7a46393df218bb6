"""What scenarios leave out, what may come at worst, and what another policy would have made."""

from pathlib import Path

from anew import lab

HERE = Path(__file__).parent
FLOW = lab.load(HERE / "retried.yaml")
DOWN = lab.error("server_error", http=503)

patient = lab.play(FLOW, outcomes={"page": [lab.error("timeout", takes=30), lab.ok()]})
given_up = lab.play(FLOW, outcomes={"page": DOWN})
print(patient, given_up, sep="\n")

coverage = lab.coverage_of(FLOW, [patient, given_up])
print(f"covered: {coverage.percent} %")
for point in coverage.uncovered:
    print(f"  line {point.place.line}: {point.what} {point.lack}")

bounds = lab.bounds_of(FLOW)
print(f"at most {bounds.executions.at_most:g} executions, {bounds.waits.at_most:g} s of waiting")

text = (HERE / "retried.yaml").read_text(encoding="utf-8")
hasty = lab.load_text(text.replace("attempts: 4", "attempts: 1"), "hasty.yaml")
answer = lab.what_if(hasty, [patient, given_up])
print("with one attempt, these runs fail too:", answer.report()["broken"]["certain"])

again = lab.record(FLOW, given_up.runs).scenario
print("as a scenario:", again["outcomes"]["page"])
assert lab.play(FLOW, outcomes=again["outcomes"]).timeline == given_up.timeline

storm = lab.faults_of(FLOW, runs=200, seed=1, invariants=["delays | length <= 3"])
print(f"{len(storm.records)} runs with faults: every invariant holds: {storm.holds}")

try:
    given_up.expect(status="done", attempts={"page": 4})
except AssertionError as difference:
    print(difference)
