// Which arcs of a graph lead back. A run goes down the page; what it does when things go well says
// where down is, and only then the ways of failures.

interface Arc {
  source: string;
  target: string;
  isFailure: boolean;
}

type Next = Map<string, { target: string; arc: number }[]>;

/** The numbers of the arcs to turn round, after which no way leads in a circle. */
export function backward(nodes: readonly string[], arcs: readonly Arc[]): Set<number> {
  const back = new Set<number>();
  const forward: Next = new Map(nodes.map((name) => [name, []]));
  arcs.forEach(({ source, target, isFailure }, arc) => {
    if (!isFailure && source !== target) forward.get(source)?.push({ target, arc });
  });
  for (const arc of circles(nodes, forward)) back.add(arc);
  for (const [name, next] of forward) {
    forward.set(
      name,
      next.filter((one) => !back.has(one.arc)),
    );
  }
  arcs.forEach(({ source, target, isFailure }, arc) => {
    if (!isFailure || source === target) return;
    if (leads(forward, target, source)) back.add(arc);
    else forward.get(source)?.push({ target, arc });
  });
  return back;
}

/** Going down every way from the first step on: the arcs that meet a step they came through. */
function circles(nodes: readonly string[], next: Next): number[] {
  const found: number[] = [];
  const state = new Map<string, "open" | "left">();
  for (const start of nodes) {
    const path = state.has(start) ? [] : [{ name: start, at: 0 }];
    for (let here = path.at(-1); here !== undefined; here = path.at(-1)) {
      state.set(here.name, "open");
      const way = next.get(here.name)?.[here.at++];
      if (way === undefined) {
        state.set(here.name, "left");
        path.pop();
      } else if (state.get(way.target) === "open") found.push(way.arc);
      else if (!state.has(way.target)) path.push({ name: way.target, at: 0 });
    }
  }
  return found;
}

function leads(next: Next, from: string, to: string): boolean {
  const seen = new Set([from]);
  const open = [from];
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    if (here === to) return true;
    for (const { target } of next.get(here) ?? []) {
      if (!seen.has(target)) {
        seen.add(target);
        open.push(target);
      }
    }
  }
  return false;
}
