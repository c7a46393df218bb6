"""Small documents that between them use every way a run can go on after a kill."""

from __future__ import annotations

from msgspec import Struct

# Far above the default: here it is the killing that is tested, not what is done about it.
PATIENT = "executor: {spec: {limits: {deliveries: 1000}}}\n"


class Scenario(Struct, frozen=True):
    """`attempts`: how often each task may be executed, where that is more than once."""

    name: str
    text: str
    attempts: dict[str, int] = {}
    files: dict[str, str] = {}

    @property
    def document(self) -> str:
        return f"metadata: {{name: {self.name}}}\n{PATIENT}{self.text}"


LINEAR = Scenario(
    "linear",
    """
workflow:
  - step: load
    tool:
      - get: {kind: effect, result: {n: 20}}
      - double: {kind: effect, result: "{{ _prev.n * 2 }}", spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {doubled: "{{ outcome.result }}"}}}}]}}}
    next: [{step: keep}]
  - step: keep
    tool: {kind: effect, result: "{{ ctx.doubled + 2 }}"}
""",
)
# Delays that are over before anyone can resume, one that is slept in place, one that parks.
RETRIES = Scenario(
    "retries",
    """
workflow:
  - step: hasty
    tool:
      - blink:
          kind: effect
          fails: 2
          result: "{{ _attempt }}"
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 3, backoff: exponential, delay: 0.03, jitter: true, set_ctx: {seen: "{{ (ctx.seen | default(0)) + 1 }}"}}}]}}
    next: [{step: patient}]
  - step: patient
    tool:
      - wait:
          kind: effect
          fails: 2
          result: "{{ ctx.seen }}"
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 3, backoff: linear, delay: 0.55}}]}}
""",
    {"blink": 3, "wait": 3},
)
LOOP = Scenario(
    "loop",
    """
workflow:
  - step: each
    loop: {in: "{{ range(5) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 3}}
    tool:
      - visit:
          kind: effect
          fails: "{{ 1 if iter.n == 2 else 0 }}"
          result: "{{ iter.n * iter.n }}"
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 0.02}}, {else: {then: {do: continue, set_ctx: {last: "{{ iter.n }}"}}}}]}}
    next: [{step: sum}]
  - step: sum
    tool: {kind: effect, result: "{{ each.results | sum }}"}
""",
    {"visit": 2},
)
SEQUENCE = Scenario(
    "sequence",
    """
workflow:
  - step: one_by_one
    loop: {in: "{{ [3, 4, 5] }}", iterator: n, spec: {mode: sequential}}
    tool:
      - add:
          kind: effect
          result: "{{ (ctx.total | default(0)) + iter.n }}"
          spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {total: "{{ outcome.result }}"}}}}]}}
""",
)
FAN_OUT = Scenario(
    "fan_out",
    """
workflow:
  - step: start
    tool: {kind: effect, result: 1}
    next: [{step: left}, {step: right}]
  - step: left
    tool: {kind: effect, result: 10}
    next: [{step: both}]
  - step: right
    tool: [{first: {kind: effect, result: 20}}, {second: {kind: effect, result: "{{ _prev + 1 }}"}}]
    next: [{step: both}]
  - step: both
    tool: {kind: effect, result: "{{ left + right }}"}
""",
)
FAILURE = Scenario(
    "failure",
    """
workflow:
  - step: book
    tool:
      - pay:
          kind: effect
          fails: 9
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 0.02}}]}}
    next: {arcs: [{step: undo, when: "{{ event.name == 'step.failed' }}", args: {why: "{{ event.error.kind }}"}}, {step: never}]}
  - step: undo
    tool: {kind: effect, result: "{{ args.why }}"}
    next: [{step: give_up}]
  - step: give_up
    tool: {kind: effect, fails: 9}
  - step: never
    tool: {kind: effect}
""",
    {"pay": 2},
)
CHILD = Scenario(
    "parent",
    """
workflow:
  - step: call
    tool: {kind: playbook, file: child.yaml, args: {x: 21}}
    next: [{step: use}]
  - step: use
    tool: {kind: effect, result: "{{ call + 1 }}"}
""",
    {},
    {
        "child.yaml": "metadata: {name: child}\n"
        + PATIENT
        + """
workload: {x: 0}
workflow:
  - step: inner
    tool: [{a: {kind: effect, result: "{{ workload.x }}"}}, {b: {kind: effect, result: "{{ _prev * 2 }}"}}]
"""
    },
)
SLEEP = Scenario(
    "sleep",
    """
workflow:
  - step: before
    tool: {kind: effect, result: 1}
    next: [{step: nap}]
  - step: nap
    tool: [{short: {kind: sleep, seconds: 0.02}}, {long: {kind: sleep, seconds: 1.05}}]
    next: [{step: after}]
  - step: after
    tool: {kind: effect, result: 2}
""",
)
PAGES = Scenario(
    "pages",
    """
workflow:
  - step: pages
    tool:
      - fetch:
          kind: effect
          fails: "{{ 1 if (ctx.page | default(1)) == 2 else 0 }}"
          result: {page: "{{ ctx.page | default(1) }}"}
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 0}}]}}
      - keep:
          kind: effect
          result: "{{ _prev.page }}"
          spec: {policy: {rules: [{when: "{{ outcome.result < 3 }}", then: {do: jump, to: fetch, delay: 0.02, set_ctx: {page: "{{ outcome.result + 1 }}"}}}]}}
""",
    {"fetch": 2},
)

SCENARIOS = (LINEAR, RETRIES, LOOP, SEQUENCE, FAN_OUT, FAILURE, CHILD, SLEEP, PAGES)
