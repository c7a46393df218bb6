// A graph in words: what a step's picture says, for those who do not see it.

import type { EdgeShown, GraphShown, NodeShown, StepStatus } from "../api/types";
import { counted } from "../words/time";
import { DOING, STEP_STATES, type Look } from "../words/states";
import { ROLE_WORDS } from "./outlines";

const UNREACHED: Look = { word: "not reached", tone: "calm", shape: "dots" };

// Their word says all; of the others, what they wait for.
const KNOWN_BY_STATUS: ReadonlySet<StepStatus> = new Set(["running", "retrying", "polling"]);
const IS_DELAYED: ReadonlySet<StepStatus | null> = new Set(["retrying", "polling"]);

/** How a step stands: what it is at right now says more than its status. */
export function lookOf(node: NodeShown): Look {
  if (node.status === null) return UNREACHED;
  const look = STEP_STATES[node.status];
  if (node.doing === null || KNOWN_BY_STATUS.has(node.status)) return look;
  return { ...DOING[node.doing], word: DOING[node.doing].word };
}

/** `4/8`: of the attempt that is open or comes next, once there is more than one. */
export function attemptBadge(node: NodeShown): string | null {
  if (node.attempt !== null && (node.attempt > 1 || IS_DELAYED.has(node.status))) {
    return node.attempts_max === null ? `${node.attempt}` : `${node.attempt}/${node.attempts_max}`;
  }
  return node.retries > 0 ? counted(node.retries, "retry", "retries") : null;
}

export function attemptWords(node: NodeShown): string | null {
  if (node.attempt !== null && (node.attempt > 1 || IS_DELAYED.has(node.status))) {
    const most = node.attempts_max === null ? "" : ` of ${node.attempts_max}`;
    return `attempt ${node.attempt}${most}`;
  }
  return node.retries > 0 ? counted(node.retries, "retry", "retries") : null;
}

export function loopWords(node: NodeShown): string | null {
  if (node.loop === null) return null;
  const { done, failed, total } = node.loop;
  const counts = `${done.toLocaleString("en")} / ${total.toLocaleString("en")}`;
  return failed ? `${counts} · ${failed.toLocaleString("en")} failed` : counts;
}

export function nodeWords(node: NodeShown, isRun: boolean): string {
  const said = [
    node.role === "step" ? node.name : `${node.name}, ${ROLE_WORDS[node.role]}`,
    node.is_entry ? "entry" : null,
    node.is_gate ? "goal gate" : null,
    isRun ? lookOf(node).word : null,
    attemptWords(node),
    node.visits > 1 ? counted(node.visits, "visit") : null,
    loopWords(node),
    node.trouble,
  ];
  return said.filter((word) => word !== null).join(", ");
}

export function edgeWords(edge: EdgeShown, isLast: boolean): string {
  const said = [
    edge.label && `when ${edge.label}`,
    edge.is_failure && "on failure",
    edge.taken > 0 && `taken ${counted(edge.taken, "time")}`,
    isLast && "taken last",
  ].filter(Boolean);
  return said.length ? `${edge.target} (${said.join(", ")})` : edge.target;
}

/** The number of the edge that was taken last, or -1. */
export function lastTaken(graph: GraphShown): number {
  let found = -1;
  let newest = -1;
  graph.edges.forEach((edge, number) => {
    if (edge.last !== null && edge.last > newest) [found, newest] = [number, edge.last];
  });
  return found;
}
