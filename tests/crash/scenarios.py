"""Small documents that between them use every way a run can go on after a kill."""

from __future__ import annotations

from msgspec import Struct

# Far above the default: here it is the killing that is tested, not what is done about it.
PATIENT = "executor: {spec: {limits: {deliveries: 1000}}}\n"


class Scenario(Struct, frozen=True):
    """`attempts`: how often each task may be executed, where that is more than once.

    `options` are those with which it is run and resumed.
    """

    name: str
    text: str
    attempts: dict[str, int] = {}
    files: dict[str, str] = {}
    options: tuple[str, ...] = ()
    is_graph: bool = False

    @property
    def file(self) -> str:
        return f"{self.name}.dot" if self.is_graph else f"{self.name}.yaml"

    @property
    def document(self) -> str:
        if self.is_graph:
            return f"digraph {self.name} {{{self.text}}}"
        patient = "" if "executor:" in self.text else PATIENT
        return f"metadata: {{name: {self.name}}}\n{patient}{self.text}"


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

# Calls that guards hold: two at a time, five in half a second, and a bucket that is not empty.
GUARDED = Scenario(
    "guarded",
    """
executor:
  spec:
    limits: {deliveries: 1000}
    dependencies:
      api: {concurrency: 2, rate: {count: 5, per: 500ms}, budget: {capacity: 100}}
workflow:
  - step: each
    loop: {in: "{{ range(7) | list }}", iterator: n, spec: {mode: parallel}}
    tool:
      - ask:
          kind: effect
          fails: "{{ 1 if iter.n == 3 else 0 }}"
          result: "{{ iter.n }}"
          spec: {dependency: api, policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 0}}]}}
""",
    {"ask": 2},
)

SCENARIOS = (LINEAR, RETRIES, LOOP, SEQUENCE, FAN_OUT, FAILURE, CHILD, SLEEP, PAGES, GUARDED)

APPROVED = ("--auto-approve",)
# A question, its answer, and the work before and after.
QUESTION = Scenario(
    "question",
    """
workflow:
  - step: before
    tool: {kind: effect, result: 1}
    next: [{step: gate}]
  - step: gate
    tool: {kind: human, question: "Go on?", choices: ["[Y] Yes", "[N] No"]}
    next: [{step: after}]
  - step: after
    tool: {kind: effect, result: "{{ gate.label }}"}
""",
    options=APPROVED,
)
# Branches that are all waited for, one of them by a person.
FORK = Scenario(
    "fork",
    """
workflow:
  - step: start
    tool: {kind: effect, result: 1}
    next: {spec: {mode: fork, join: meet}, arcs: [{step: left}, {step: ask}]}
  - step: left
    tool:
      - l: {kind: effect, result: 10, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {left: "{{ outcome.result }}"}}}}]}}}
    next: [{step: meet}]
  - step: ask
    tool: {kind: human, question: "And this?", choices: [Good, Bad]}
    next: [{step: right}]
  - step: right
    tool:
      - r: {kind: effect, result: "{{ ask.label }}", spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {right: "{{ outcome.result }}"}}}}]}}}
    next: [{step: meet}]
  - step: meet
    spec: {join: wait_all}
    tool: {kind: effect, result: "{{ ctx.left }} {{ ctx.right }}"}
""",
    options=APPROVED,
)
# One branch wins while the other is at work; nothing may be left of that one.
RACE = Scenario(
    "race",
    """
workflow:
  - step: start
    tool: {kind: effect, result: 1}
    next: {spec: {mode: fork, join: meet}, arcs: [{step: slow}, {step: quick}]}
  - step: slow
    tool: {kind: effect, held: never}
    next: [{step: meet}]
  - step: quick
    tool: [{one: {kind: effect, result: 2}}, {two: {kind: effect, result: 3}}]
    next: [{step: meet}]
  - step: meet
    spec: {join: first_success}
    tool: {kind: effect, result: "{{ args.join.winner }}"}
    next: [{step: last}]
  - step: last
    tool: {kind: effect, result: 4}
""",
)
# Begins anew once: what the first life leaves in the world is what the second one finds.
RESTART = Scenario(
    "restart",
    """
workflow:
  - step: look
    tool: {kind: shell, command: "test -e mark && echo yes || echo no"}
    next: {arcs: [{step: last, when: "{{ 'yes' in event.result.stdout }}"}, {step: mark}]}
  - step: mark
    tool: {kind: shell, command: "touch mark"}
    next: [{step: again}]
  - step: again
    tool: {kind: restart, entry: look}
  - step: last
    tool: {kind: effect, result: 5}
""",
)
# Every value is kept once, whenever its worker dies; a large one lies outside the log.
ARTIFACTS = Scenario(
    "artifacts",
    """
workflow:
  - step: keep
    loop: {in: [a, b], iterator: word}
    tool:
      - long: {kind: effect, result: "{{ iter.word * 70000 }}"}
      - own: {kind: artifact, action: put, name: report, value: "{{ long }}"}
      - all: {kind: artifact, action: put, name: report, scope: program, value: {word: "{{ iter.word }}"}}
    next: [{step: read}]
  - step: read
    tool:
      - first: {kind: artifact, action: get, name: report, version: 1}
      - newest: {kind: artifact, action: get, name: report}
      - all: {kind: artifact, action: get, name: report, scope: program}
      - told: {kind: noop, result: ["{{ first | length }}", "{{ newest[:1] }}", "{{ all.word }}", "{{ keep.results[1].version }}"]}
""",
)
UNDONE = Scenario(
    "undone",
    """
workflow:
  - step: seats
    loop: {in: [a, b], iterator: leg}
    tool: [{reserve: {kind: effect, result: "{{ iter.leg }}"}}]
    compensate:
      - release:
          kind: effect
          fails: 1
          result: "{{ seats }} of {{ leg }}"
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 3, delay: 0.03}}]}}
    next: [{step: room}]
  - step: room
    tool: [{book: {kind: effect, result: 7}}]
    compensate: [{cancel_room: {kind: effect, result: "{{ room }}"}}, {tell: {kind: effect, result: "{{ cancel_room }}"}}]
    next: [{step: car}]
  - step: car
    tool: [{rent: {kind: effect, fails: 9}}]
""",
    {"release": 2},
)
NEWER = (QUESTION, FORK, RACE, RESTART, ARTIFACTS, UNDONE)

BACKOFF_GRAPH = Scenario(
    "backoff",
    """
  start [shape=ellipse]
  done [shape=ellipse]
  build [shape=component, tool_command="echo built"]
  flaky [shape=component, tool_command="test ${_retry_count} -ge 1", max_retries=2, retry_backoff="exponential"]
  broken [shape=component, tool_command="exit 3"]
  decide [shape=diamond]
  mend [shape=component, tool_command="echo mended"]
  start -> build -> flaky -> broken -> decide
  decide -> mend [condition="status == 'FAILURE'"]
  decide -> done [condition="status == 'SUCCESS'"]
  mend -> done
""",
    {"flaky": 3},
    is_graph=True,
)
GATES_GRAPH = Scenario(
    "gates",
    """
  start [shape=Mdiamond]
  done [shape=Msquare]
  fork [shape=component]
  left [shape=parallelogram, tool_command="echo left"]
  right [shape=parallelogram, tool_command="echo right"]
  meet [shape=tripleoctagon]
  ask [shape=hexagon, label="Ship it?"]
  work [shape=parallelogram, tool_command="echo broken"]
  verify [shape=parallelogram, goal_gate=true, retry_target="fix", tool_command="test ${tool.last_line} = fixed"]
  fix [shape=parallelogram, tool_command="echo fixed"]
  start -> fork
  fork -> left -> meet
  fork -> right -> meet
  meet -> ask
  ask -> work [label="[Y] Yes"]
  ask -> done [label="[N] No"]
  work -> verify
  verify -> done [condition="outcome=fail"]
  verify -> done [condition="outcome=success"]
  fix -> verify
""",
    options=APPROVED,
    is_graph=True,
)
RESTART_GRAPH = Scenario(
    "anew",
    """
  start [shape=Mdiamond]
  done [shape=Msquare]
  look [shape=parallelogram, tool_command="test -e mark"]
  mark [shape=parallelogram, tool_command="touch mark"]
  start -> look
  look -> done [condition="outcome=success"]
  look -> mark [condition="outcome=fail"]
  mark -> look [loop_restart=true]
""",
    is_graph=True,
)
GRAPHS = (BACKOFF_GRAPH, GATES_GRAPH, RESTART_GRAPH)

# The worker is the parent of the process that Python processes are forked from.
KILL_WORKER = (
    "import os; stat = open(f'/proc/{os.getppid()}/stat').read(); "
    "os.kill(int(stat.rpartition(')')[2].split()[1]), 9)"
)
