// The problem that is open stays in sight though its last run was retried: whoever did it reads what
// came of it. It goes when it is closed, or when something else is asked for.

import { useState } from "react";

import type { FailureGroup } from "../../api/types";

interface Kept {
  /** What was asked for when it was read. */
  scope: string;
  group: FailureGroup;
}

export function useKept(
  groups: readonly FailureGroup[],
  open: string | null,
  scope: string,
): readonly FailureGroup[] {
  const [kept, setKept] = useState<Kept | null>(null);
  const found = groups.find((one) => one.fingerprint === open);
  if (found !== undefined) {
    if (kept?.group !== found || kept.scope !== scope) setKept({ scope, group: found });
    return groups;
  }
  if (kept === null || kept.group.fingerprint !== open || kept.scope !== scope) return groups;
  const { count, retried } = kept.group;
  return [{ ...kept.group, count: 0, dead: 0, retried: retried + count }, ...groups];
}
