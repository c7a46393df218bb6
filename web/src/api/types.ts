// The JSON of the HTTP API. Each name is that of a Struct in src/anew/surfaces/api.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };
/** ISO 8601, UTC. */
export type Instant = string;
/** 63 bits: text, because numbers of JavaScript have 53. */
export type RunText = string;

export type Status =
  "new" | "queued" | "running" | "waiting" | "paused" | "done" | "failed" | "cancelled";

/** How a run stands, finer than its status: what the facets of the list are. */
export type State =
  | "queued"
  | "running"
  | "retrying"
  | "person"
  | "signal"
  | "parked"
  | "waiting"
  | "paused"
  | "done"
  | "failed"
  | "dead"
  | "cancelled";

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  findings?: DocumentFinding[];
  misfits?: MisfitRow[];
}

export interface DocumentFinding {
  severity: "error" | "warning" | "info";
  rule: string;
  message: string;
  file: string;
  line: number;
  column: number;
  suggestion: string | null;
}

export interface MisfitRow {
  message: string;
  step: string | null;
  task: string | null;
  file: string | null;
  line: number | null;
  column: number | null;
}

// --- lists of runs -------------------------------------------------------------------------------

/** The open job of a run that says most, by which it has its state: a person, a signal, the retry that is due first, work, else what is put aside. */
export interface OpenJob {
  reason: "ready" | "retry" | "sleep" | "child" | "held" | "person" | "signal";
  step: string;
  attempt: number;
  due_at: Instant | null;
  is_leased: boolean;
}

export interface QuestionRow {
  run: RunText;
  step: string;
  task: string;
  question: string;
  choices: string[];
  deadline: Instant | null;
  /** With `run` it names the question: an answer that has both is for no other. */
  asked: number;
}

export interface AwaitedRow {
  run: RunText;
  step: string;
  task: string;
  signal: string;
  deadline: Instant | null;
}

/** From which event on a run cannot be read, and why; without an event it is its row. */
export interface DamageShown {
  event: number | null;
  reason: string;
}

export interface RunListed {
  run: RunText;
  program: string;
  digest: string;
  /** The newest registered version with this document; null when it was only run. */
  version: number | null;
  status: Status;
  state: State;
  error: JsonObject | null;
  fingerprint: string | null;
  created_at: Instant;
  updated_at: Instant;
  ended_at: Instant | null;
  events: number;
  key: string | null;
  labels: { [name: string]: string };
  parent: RunText | null;
  open: OpenJob | null;
  /** The newest run that takes it up: it was retried. */
  retried_as: RunText | null;
  questions?: QuestionRow[];
  signals?: AwaitedRow[];
  /** Only of a damaged run, once the server came across it. */
  damage?: DamageShown;
}

export interface RunPage {
  runs: RunListed[];
  next: RunText | null;
}

export interface RunFacets {
  now: Instant;
  /** Of the filter without its states. */
  total: number;
  /** Every state is there, 0 included. A run counts once: under the state its row has. */
  states: { [state in State]: number };
  programs: string[];
}

/** [run, created_at, seconds from start to end (to now while it is open), state] */
export type RunPoint = [RunText, Instant, number, State];

export interface RunPoints {
  points: RunPoint[];
  /** There are more: these are the newest. */
  is_cut: boolean;
}

/** One server-sent event of GET /api/v1/runs/changes. */
export interface RunChanges {
  runs: RunText[];
  /** Too many to name. */
  is_all: boolean;
}

export type BulkAction = "cancel" | "pause" | "resume" | "retry" | "skip";

export interface BulkRequest {
  action: BulkAction;
  /** These runs, or those of a filter (the words of the query of GET /api/v1/runs). */
  runs?: RunText[];
  filter?: { [word: string]: string | number | boolean | string[] };
  /** Why, for the log: of cancel and pause. */
  reason?: string;
  /** Who wants it, for the log: of skip. */
  by?: string;
  /** Go on below this run: the `next` of the answer before. */
  before?: RunText;
  dry_run?: boolean;
}

export interface BulkRefused {
  run: RunText;
  detail: string;
  /** The run that takes it up already. */
  retried_as: RunText | null;
}

export interface BulkDone {
  /** How many runs are meant, with `dry_run`; how many were looked at, without. */
  count: number;
  /** With `dry_run`, how many of them the action can change. */
  able: number;
  changed: RunText[];
  /** Runs that were named and are not there, too: by the first answer, and in no count. */
  refused: BulkRefused[];
  next: RunText | null;
}

export interface FailureGroup {
  fingerprint: string;
  kind: string;
  /** Of the newest. */
  message: string;
  step: string | null;
  programs: string[];
  /** Without those that were retried, unless they are asked for with `retried=true`. */
  count: number;
  dead: number;
  /** How many of all that were asked for have been retried. */
  retried: number;
  first_at: Instant;
  last_at: Instant;
  newest: RunText;
}

export interface FailureGroups {
  groups: FailureGroup[];
  is_cut: boolean;
}

// --- one run -------------------------------------------------------------------------------------

export type StepStatus =
  | "scheduled"
  | "running"
  | "retrying"
  | "polling"
  | "waiting"
  | "done"
  | "failed"
  | "skipped"
  | "cancelled";

export type Doing =
  | "queued"
  | "working"
  | "retry"
  | "retry_after"
  | "jump"
  | "poll"
  | "sleep"
  | "child"
  | "person"
  | "signal"
  | "guard";

export interface VerdictShown {
  headline: string;
  reason: string;
  details: string[];
  since: Instant | null;
  until: Instant | null;
}

export interface RuleShown {
  number: number;
  name: string | null;
  line: number | null;
  column: number | null;
}

/** One live step-run. */
export interface WaitShown {
  step: string;
  visit: number;
  iteration: number | null;
  task: string | null;
  attempt: number;
  attempts: number | null;
  doing: Doing;
  headline: string;
  reason: string;
  since: Instant | null;
  until: Instant | null;
  rule: RuleShown | null;
  retry_after_seconds: number | null;
  /** It waits for a moment, and POST …/skip would end that. */
  can_skip: boolean;
}

export interface LoopShown {
  total: number;
  done: number;
  failed: number;
}

export type Role = "step" | "choice" | "fork" | "join" | "person" | "exit" | "restart";

export interface NodeShown {
  name: string;
  lines: string[];
  role: Role;
  is_entry: boolean;
  is_loop: boolean;
  is_gate: boolean;
  line: number | null;
  /** Null: not reached, or a program and not a run. */
  status: StepStatus | null;
  doing: Doing | null;
  until: Instant | null;
  visits: number;
  attempts: number;
  retries: number;
  /** Of the attempt that is open or comes next. */
  attempt: number | null;
  attempts_max: number | null;
  loop: LoopShown | null;
  trouble: string | null;
}

export interface EdgeShown {
  source: string;
  target: string;
  label: string;
  is_failure: boolean;
  line: number | null;
  /** How often it was taken. */
  taken: number;
  /** Sequence number of the event that last took it. */
  last: number | null;
}

export interface GraphShown {
  nodes: NodeShown[];
  edges: EdgeShown[];
}

export type BarKind =
  | "ok"
  | "error"
  | "lost"
  | "working"
  | "queue"
  | "retry"
  | "retry_after"
  | "jump"
  | "poll"
  | "sleep"
  | "child"
  | "person"
  | "signal";

/** Seconds since `begin` of the lanes. */
export interface BarShown {
  begin: number;
  end: number;
  kind: BarKind;
  task: string | null;
  attempt: number | null;
  visit: number;
  is_open: boolean;
}

/** Of a lane with too many bars: for each slice of time how many executions were at work or waited,
 * and how many errors there were. */
export interface DensityShown {
  seconds: number;
  working: number[];
  waiting: number[];
  errors: number[];
}

export interface LaneShown {
  step: string;
  status: StepStatus;
  visits: number;
  attempts: number;
  bars: BarShown[];
  density: DensityShown | null;
  loop: LoopShown | null;
  depth: number;
}

export interface LanesShown {
  begin: Instant;
  seconds: number;
  lanes: LaneShown[];
  /** Lanes left out, those that succeeded long ago first. */
  more: number;
}

export interface ChildShown {
  run: RunText;
  program: string;
  status: Status;
  step: string | null;
  visit: number | null;
  iteration: number | null;
}

export interface RulesHit {
  step: string;
  task: string;
  rule: RuleShown;
  /** The condition as it is written; null for the rule that takes the rest. */
  when: string | null;
  directive: string;
  hits: number;
}

/** GET /api/v1/runs/{run}/picture?at=SEQ */
export interface RunPicture {
  run: RunText;
  program: string;
  digest: string;
  version: number | null;
  language: string | null;
  file: string | null;
  status: Status;
  state: State;
  /** As of this event; `events` is the newest there is. */
  at: number;
  events: number;
  now: Instant;
  created_at: Instant;
  updated_at: Instant;
  ended_at: Instant | null;
  key: string | null;
  labels: { [name: string]: string };
  parent: RunText | null;
  parent_step: string | null;
  continues: RunText | null;
  continued_as: RunText | null;
  shared_with: RunText | null;
  children: ChildShown[];
  error: JsonObject | null;
  fingerprint: string | null;
  failed_step: string | null;
  verdict: VerdictShown;
  waits: WaitShown[];
  more_waits: number;
  questions: QuestionRow[];
  signals: AwaitedRow[];
  graph: GraphShown | null;
  lanes: LanesShown;
  rules: RulesHit[];
  more_rules: number;
  /** What is large in these and in `error` is left out: an object with the only key "…" says so. */
  workload: JsonObject;
  ctx: JsonObject;
  result: Json;
}

export interface DelayShown {
  backoff: string;
  base_seconds: number;
  jitter: string | number;
  draw: number | null;
  spread_seconds: number;
  cap_seconds: number | null;
  retry_after_seconds: number | null;
  delay_seconds: number;
  not_before: Instant;
  /** How it came about. */
  text: string;
}

/** Someone ended the wait behind an attempt, or the sleep that it is, before its time. */
export interface SkipShown {
  at: Instant;
  by: string | null;
  early_seconds: number | null;
}

export interface AttemptShown {
  /** Of its task.started; names the attempt. */
  seq: number;
  ended_seq: number | null;
  decided_seq: number | null;
  step: string;
  visit: number;
  iteration: number | null;
  task: string;
  kind: string | null;
  attempt: number;
  attempts_max: number | null;
  started_at: Instant;
  ended_at: Instant | null;
  seconds: number | null;
  status: "ok" | "error" | "working" | "lost" | "cancelled";
  error: JsonObject | null;
  http_status: number | null;
  directive: string | null;
  to: string | null;
  rule: RuleShown | null;
  /** The conditions of a retry block of which none held. */
  unmet: string | null;
  delay: DelayShown | null;
  skipped: SkipShown | null;
  /** Why there is no further attempt, when a retry rule matched. */
  exhausted: string | null;
  idempotency_key: string | null;
  has_logs: boolean;
}

export interface AttemptPage {
  attempts: AttemptShown[];
  /** The `after` of the next page. */
  next: number | null;
}

/** GET /api/v1/runs/{run}/attempts/{seq} */
export interface AttemptWhole extends AttemptShown {
  inputs: Json;
  result: Json;
  helpers: JsonObject;
  /** What was written then: `{ctx: {…}, iter: {…}}`. */
  patches: JsonObject;
  logs: JsonObject;
}

export interface EventRow {
  seq: number;
  at: Instant;
  name: string;
  step: string | null;
  visit: number | null;
  iteration: number | null;
  task: string | null;
  attempt: number | null;
  data: JsonObject;
  /** What happened, in one line. */
  text: string;
}

export interface EventPage {
  events: EventRow[];
  next: number | null;
}

export interface ParagraphRow {
  seq: number | null;
  at: Instant | null;
  step: string | null;
  /** Names what the text explains: "fetch, attempt 2 (4.0 s after attempt 1)". */
  head: string;
  text: string;
}

export interface Explanation {
  paragraphs: ParagraphRow[];
}

/** GET /api/v1/runs/{run}/document: what the run is pinned to. */
export interface RunDocument {
  name: string;
  digest: string;
  version: number | null;
  newest: number | null;
  file: string;
  dialect: string | null;
  document: string;
  files: { [name: string]: string };
}

export interface Changed {
  run: RunText;
  status: Status;
  changed: boolean;
}

export interface StartedRun {
  run: RunText;
  status: Status;
  differs?: ("document" | "input")[];
  notice?: string;
}

export interface EffectRow {
  step: string;
  task: string;
  kind: string;
  what: string;
  times: number;
  key: "none" | "own" | "new";
  is_certain: boolean;
}

export interface PreviewShown {
  run: RunText;
  at: number;
  asked: number;
  reused: { step: string; visits: number; executions: number }[];
  again: {
    step: string;
    visit: number | null;
    iteration: number | null;
    task: string | null;
    does: string;
  }[];
  undone: { step: string; task: string; executions: number }[];
  effects: EffectRow[];
  more_effects: number;
  notes: string[];
  misfits: MisfitRow[];
  differs_at: number | null;
}

export interface RunForked {
  run?: RunText;
  status?: Status;
  preview?: PreviewShown;
}

// --- programs ------------------------------------------------------------------------------------

export interface ProgramRow {
  name: string;
  version: number;
  digest: string;
  file: string;
  registered_at: Instant;
}

export interface ProgramShown extends ProgramRow {
  document: string;
  dialect: string | null;
  files: { [name: string]: string };
}

export interface ProgramList {
  programs: ProgramRow[];
}

export interface VersionPage {
  versions: ProgramRow[];
  next: number | null;
}

/** What a form to start the program asks for. */
export interface WorkloadField {
  name: string;
  type: "string" | "number" | "boolean" | "object" | "array" | "null";
  default: Json;
}

/** POST /api/v1/inspect: a document looked into, nothing run. */
export interface Inspected {
  name: string | null;
  language: string | null;
  findings: DocumentFinding[];
  graph: GraphShown | null;
  workload: WorkloadField[];
  /** The JSON of `anew bounds --json`; null when the document has errors. */
  bounds: JsonObject | null;
  /** `anew bounds` as lines of text. */
  bounds_lines: string[];
}

export interface CoveragePoint {
  kind: string;
  line: number;
  column: number;
  what: string;
  lack: string;
  hits: number;
}

/** GET /api/v1/programs/{name}/coverage: which decisions the newest runs of it have exercised. */
export interface CoverageShown {
  name: string;
  version: number;
  runs: number;
  percent: number;
  points: CoveragePoint[];
}

export interface WhatifRequest {
  runs: RunText[];
  document: string;
  file?: string;
  dialect?: string | null;
  files?: { [name: string]: string };
  samples?: number;
  seed?: number;
}

/** The JSON of `anew whatif --json`, and its lines of text. */
export interface WhatifShown {
  report: JsonObject;
  lines: string[];
}

export interface RunMoves {
  movable: RunText[];
  stuck: { run: RunText; reasons: MisfitRow[] }[];
  has_more: boolean;
}

export interface Registered {
  name: string;
  version: number;
  digest: string;
  findings: DocumentFinding[];
  runs: RunMoves;
}

// --- people and workers --------------------------------------------------------------------------

export interface QuestionAsked extends QuestionRow {
  program: string;
  asked_at: Instant;
  /** What happens at the deadline, in words. */
  silence: string | null;
  labels: { [name: string]: string };
}

/** GET /api/v1/questions, the deadline that comes first at the top. */
export interface QuestionsAsked {
  questions: QuestionAsked[];
  is_cut: boolean;
}

export interface WorkerRow {
  worker: string;
  host: string;
  process: number;
  kind: "server" | "worker" | "command";
  pools: string[];
  slots: number;
  busy: number;
  leases: number;
  version: string;
  started_at: Instant;
  seen_at: Instant;
  /** Seen lately enough. */
  is_alive: boolean;
}

export interface PoolRow {
  pool: string;
  workers: number;
  slots: number;
  busy: number;
  /** Due and taken by nobody. */
  ready: number;
  oldest_ready_at: Instant | null;
  /** Put aside until a moment, or until something happens. */
  waiting: number;
  next_due_at: Instant | null;
  leased: number;
  /** Leases that ran out before now. */
  expired: number;
}

export interface WorkersShown {
  now: Instant;
  workers: WorkerRow[];
  pools: PoolRow[];
}
