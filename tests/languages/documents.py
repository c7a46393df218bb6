"""The playbooks that several tests use: the seeds' own, and one with every feature."""

from __future__ import annotations

EVAL_HTTP = """\
- fetch_page:
    kind: http
    spec:
      timeout: { connect: 5, read: 15 }
    method: GET
    url: "{{ workload.api_url }}/api/v1/assessments"
    params: { page: "{{ iter.page }}", pageSize: "{{ iter.endpoint.page_size }}" }
    eval:
      - expr: "{{ outcome.status == 'error' and outcome.http.status in [429, 500, 502, 503, 504] }}"
        do: retry
        attempts: 10
        backoff: exponential
        delay: "{{ outcome.http.headers['retry-after'] | default(2) }}"
      - expr: "{{ outcome.status == 'error' }}"
        do: fail
      - else:
          do: continue
"""
EVAL_POSTGRES = """\
- store_page:
    kind: postgres
    auth: pg_k8s
    command: "INSERT INTO ..."
    eval:
      - expr: "{{ outcome.status == 'error' and outcome.pg.code in ['40001','40P01'] }}"
        do: retry
        attempts: 5
        backoff: exponential
        delay: 2.0
      - expr: "{{ outcome.status == 'error' }}"
        do: fail
      - else:
          do: continue
"""
EVAL_PYTHON = """\
- transform:
    kind: python
    args: { data: "{{ _prev }}" }
    code: " ... "
    eval:
      - expr: "{{ outcome.status == 'error' and 'timeout' in (outcome.error.message|lower) }}"
        do: retry
        attempts: 3
        backoff: fixed
        delay: "{{ 2.0 * (0.5 + rand()) }}"
      - expr: "{{ outcome.status == 'error' }}"
        do: fail
      - else:
          do: continue
"""
RETRY_STEPS = [
    """\
- step: fetch_data
  tool: http
  method: GET
  url: "{{ api_url }}"
  retry:
    max_attempts: 5
    initial_delay: 2.0
    backoff_multiplier: 2.0
    retry_when: "{{ status_code >= 500 }}"
    stop_when: "{{ status_code == 200 }}"
""",
    """\
- step: process_data
  tool: python
  code: |
    def main(input_data):
        # Processing logic that might fail
        return result
  retry:
    max_attempts: 3
    initial_delay: 0.5
    retry_when: "{{ error != None }}"
""",
    """\
- step: query_database
  tool: postgres
  auth:
    type: postgres
    credential: prod_db
  query: "{{ sql_query }}"
  retry:
    max_attempts: 5
    initial_delay: 1.0
    backoff_multiplier: 1.5
    retry_when: "{{ error != None or success == False }}"
""",
    """\
- step: analyze_data
  tool: duckdb
  query: "{{ analysis_query }}"
  retry:
    max_attempts: 3
    initial_delay: 0.5
    retry_when: "{{ 'out of memory' in (error|lower) }}"
""",
    """\
- step: fetch_data
  type: http
  url: https://api.example.com/data
  retry:
    max_attempts: 5
    initial_delay: 1.0
    backoff_multiplier: 2.0
    max_delay: 60.0
    jitter: true
    retry_when: "{{ status_code >= 500 or error != None }}"
    stop_when: "{{ status_code == 200 and success == True }}"
  next:
    - step: process_data
- step: process_data
  type: noop
""",
]
RETRY_CONDITIONS = [
    "{{ status_code >= 500 and status_code < 600 }}",
    "{{ status_code in [500, 502, 503, 504] }}",
    "{{ status_code != 200 }}",
    "{{ error != None }}",
    "{{ 'timeout' in (error|lower) }}",
    "{{ success == False }}",
    "{{ success == True }}",
    "{{ attempt <= 2 and 'rate limit' in (error|lower) }}",
    "{{ (attempt == 1 and status_code >= 500) or (attempt > 1 and status_code == 503) }}",
    "{{ True }}",
]
PIPELINE = """\
- step: fetch_transform_store
  spec:
    policy:
      admit:
        rules:
        - else:
            then: { allow: true }
  tool:
  - fetch:
      kind: http
      method: GET
      url: "{{ workload.api_url }}/data"
      spec:
        policy:
          rules:
          - when: "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}"
            then: { do: retry, attempts: 5, backoff: exponential, delay: 2 }
          - when: "{{ outcome.status == 'error' }}"
            then: { do: fail }
          - else:
              then: { do: continue }
  - transform:
      kind: python
      args: { data: "{{ _prev }}" }
      code: |
        result = transform(data)
  - store:
      kind: postgres
      auth: pg_k8s
      command: "INSERT INTO ..."
      spec:
        policy:
          rules:
          - when: "{{ outcome.status == 'error' and outcome.pg.code in ['40001','40P01'] }}"
            then: { do: retry, attempts: 5, backoff: exponential, delay: 2 }
          - when: "{{ outcome.status == 'error' }}"
            then: { do: fail }
          - else:
              then:
                do: break
                set_ctx: { store_ok: true }
  next:
    spec: { mode: exclusive }
    arcs:
    - step: continue
      when: "{{ event.name == 'step.done' and ctx.store_ok == true }}"
    - step: failed
      when: "{{ event.name == 'step.done' and ctx.store_ok != true }}"
    - step: failed
      when: "{{ event.name == 'step.failed' }}"
- step: continue
  tool: {kind: noop}
- step: failed
  tool: {kind: noop}
"""
_WORKLOAD = "workload: {api_url: x, sql_query: SELECT 1, analysis_query: SELECT 1}\n"


def in_workflow(steps: str) -> str:
    return f"{_WORKLOAD}workflow:\n{steps}"


def in_step(tasks: str) -> str:
    indented = "".join(f"  {line}\n" for line in tasks.splitlines())
    return in_workflow(f"- step: a\n  tool:\n{indented}")


def with_retry(condition: str) -> str:
    return in_workflow(
        f'- step: a\n  tool: http\n  url: u\n  retry:\n    retry_when: "{condition}"\n'
    )


SEEDS = [
    in_step(EVAL_HTTP),
    in_step(EVAL_POSTGRES),
    in_step(EVAL_PYTHON),
    *(in_workflow(steps) for steps in RETRY_STEPS),
    *(with_retry(condition) for condition in RETRY_CONDITIONS),
    in_workflow(PIPELINE),
]
EVERYTHING = """\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: everything}
keychain:
- {name: token, kind: bearer}
executor:
  spec:
    entry_step: one
    return_step: two
    limits: {tasks_per_step_run: 500, deliveries: 2}
    policy: {failure: {mode: best_effort}}
workload:
  rows: [1, 2]
  id: "{{ run_id }}"
workbook:
- name: double
  tool: {kind: python, code: "result = args['x'] * 2", args: {x: 1}}
workflow:
- step: one
  spec:
    join: each
    policy:
      admit: {rules: [{when: "{{ ctx.open }}", then: {allow: true}}, {else: {then: {allow: true}}}]}
      failure: {mode: fail_fast}
      lifecycle: {timeout_s: 60}
  loop: {in: "{{ workload.rows }}", iterator: row, spec: {mode: parallel, max_in_flight: 4}}
  tool:
  - name: poll
    kind: http
    endpoint: "http://x/{{ iter.row }}"
    input: {a: 1}
    spec:
      timeout: {connect: 1, read: 2s}
      policy:
        on_unmatched: fail
        rules:
        - when: output.status == 'error'
          then:
            do: retry
            attempts: "{{ 2 + 3 }}"
            backoff: exponential
            delay: 500ms
            max_delay: 10
            jitter: 0.2
            max_elapsed: 1m
            honor_retry_after: true
            on_exhausted: {do: jump, to: rest, set: {iter.gave_up: true}}
        - else: {do: continue}
  - rest: {kind: workbook, name: double, args: {x: 3}, eval: [{else: {do: break}}]}
  next:
    spec: {mode: inclusive}
    arcs:
    - {step: two, when: "{{ event.name == 'loop.done' and event.failed > 0 }}", args: {n: 1}}
    - step: three
- step: two
  type: shell
  cmd: "echo hello"
  retry: {max_attempts: 2, retry_when: "{{ error }}", stop_when: success, jitter: false}
  spec: {pool: heavy}
  save:
    storage: postgres
    auth: token
    table: public.words
    mode: upsert
    key: [id]
    data: {id: "{{ execution_id }}", word: "{{ result.stdout }}", all: "{{ data }} {{ this }}"}
  next: [{step: three, when: ctx.x}]
- step: three
  when: "{{ ctx.y }}"
  tool: {kind: sleep, seconds: 1}
  set: {ctx.done: true}
"""
