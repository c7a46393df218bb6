// The outline that shows what a step is for: forks open, joins close, people are pills, exits are
// doubled, choices point to both sides.

import type { Role } from "../api/types";

const LEAN = 12;
const ROUND = 8;

/** An SVG path along the border of a step of this size, `inset` pixels inside. */
export function outline(role: Role, width: number, height: number, inset: number): string {
  const [l, t, r, b] = [inset, inset, width - inset, height - inset];
  const half = height / 2;
  switch (role) {
    case "fork":
      return `M${l + LEAN} ${t}H${r - LEAN}L${r} ${b}H${l}Z`;
    case "join":
      return `M${l} ${t}H${r}L${r - LEAN} ${b}H${l + LEAN}Z`;
    case "choice":
      return `M${l} ${half}L${l + LEAN} ${t}H${r - LEAN}L${r} ${half}L${r - LEAN} ${b}H${l + LEAN}Z`;
    case "restart":
      return `M${l} ${t}H${r - LEAN}L${r} ${half}L${r - LEAN} ${b}H${l}Z`;
    case "person":
      return rounded(l, t, r, b, Math.min(half, 26));
    case "step":
    case "exit":
      return rounded(l, t, r, b, ROUND);
  }
}

function rounded(l: number, t: number, r: number, b: number, radius: number): string {
  const arc = (x: number, y: number): string => `A${radius} ${radius} 0 0 1 ${x} ${y}`;
  return (
    `M${l + radius} ${t}H${r - radius}${arc(r, t + radius)}V${b - radius}${arc(r - radius, b)}` +
    `H${l + radius}${arc(l, b - radius)}V${t + radius}${arc(l + radius, t)}Z`
  );
}

export const ROLE_WORDS: { [role in Role]: string } = {
  step: "step",
  choice: "choice",
  fork: "fork",
  join: "join",
  person: "person",
  exit: "exit",
  restart: "restart",
};
