// A document was registered: as which version, and which runs of older ones could go on under it.

import type { ReactNode } from "react";

import type { Registered } from "../../../api/types";
import { Notice } from "../../../parts/Notice";
import { Link } from "../../../router";
import { programAddress } from "../queries";
import { Moves } from "../versions/Moves";

export function NowRegistered({ registered }: { registered: Registered }): ReactNode {
  const { name, version, runs } = registered;
  const hasOpen = runs.movable.length + runs.stuck.length > 0;
  return (
    <>
      <Notice tone="good">
        {name} is registered as version {version}. <Link to={programAddress(name)}>Look at it</Link>{" "}
        or <Link to={programAddress(name, { tab: "start" })}>start a run</Link>.
        {!hasOpen && " No run of an older version is open."}
      </Notice>
      {hasOpen && <Moves name={name} version={version} moves={runs} />}
    </>
  );
}
