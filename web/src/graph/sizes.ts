// How much room the steps and arcs of a graph need. It depends on what the program says, never on
// how a run stands: a picture that jumps with every event cannot be read.

import type { EdgeShown, NodeShown } from "../api/types";

export const NODE_WIDTH = 220;
export const LINES_SHOWN_MAX = 6;
const PADDING = 18;
const NAME_HEIGHT = 22;
const LINE_HEIGHT = 17;
const LOOP_HEIGHT = 24;
const STATUS_HEIGHT = 24;

const LABEL_WIDTH_MAX = 176;
const LABEL_LINE_HEIGHT = 15;
const LABEL_LINES_MAX = 2;
const LABEL_PADDING = 12;
const CHARACTER_WIDTH = 6.1;
const COUNT_WIDTH = 30;

export interface Size {
  width: number;
  height: number;
}

/** Of a step; `isRun` leaves room for how it stands. */
export function nodeSize(node: NodeShown, isRun: boolean): Size {
  const lines = Math.min(node.lines.length, LINES_SHOWN_MAX);
  // What went wrong takes the place of a line, so what can go wrong has one at least.
  const canFail = node.role === "step" || node.role === "person";
  const shown = isRun && canFail ? Math.max(1, lines) : lines;
  const loop = isRun && node.is_loop ? LOOP_HEIGHT : 0;
  const status = isRun ? STATUS_HEIGHT : 0;
  return {
    width: NODE_WIDTH,
    height: PADDING + NAME_HEIGHT + shown * LINE_HEIGHT + loop + status,
  };
}

/** Of the words at an arc, with the count of how often it was taken. */
export function labelSize(edge: EdgeShown, isRun: boolean): Size {
  const count = isRun ? COUNT_WIDTH : 0;
  if (edge.label === "") return { width: count, height: isRun ? LABEL_LINE_HEIGHT + 4 : 0 };
  const text = edge.label.length * CHARACTER_WIDTH + LABEL_PADDING;
  const lines = Math.min(LABEL_LINES_MAX, Math.ceil(text / LABEL_WIDTH_MAX));
  return {
    width: Math.min(text, LABEL_WIDTH_MAX) + count,
    height: lines * LABEL_LINE_HEIGHT + 6,
  };
}
