// Which program and version this is, how its runs stand, and the way to them.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../api/types";
import { Ago } from "../../parts/Time";
import { go, Link } from "../../router";
import { EVERYTHING, runsAddress } from "../runs/filter";
import { RunCounts } from "./list/RunCounts";
import { programAddress, useProgram } from "./queries";
import type { Shown } from "./shown";

const DIGEST_SHOWN = 12;
// More are on the tab of versions.
const VERSIONS_OFFERED = 100;

export function ProgramHead({
  program,
  shown,
}: {
  program: ProgramShown;
  shown: Shown;
}): ReactNode {
  const { name, version, digest, registered_at: at } = program;
  const newest = useProgram(name, null).data?.version ?? version;
  const isOld = version < newest;
  return (
    <header className="programs-head">
      <div className="page-head">
        <h1>{name}</h1>
        <label className="row small soft">
          Version
          <select
            value={version}
            onChange={(event) => go(addressOf(program, shown, Number(event.target.value), newest))}
          >
            {offered(newest, version).map((number) => (
              <option key={number} value={number}>
                {number === newest ? `${number} (newest)` : number}
              </option>
            ))}
          </select>
        </label>
        <span className="small soft">
          registered <Ago at={at} />, <code title={digest}>{digest.slice(0, DIGEST_SHOWN)}</code>
        </span>
      </div>
      {isOld && (
        <p className="small">
          This is not the newest version.{" "}
          <Link to={addressOf(program, shown, newest, newest)}>Version {newest}</Link>
        </p>
      )}
      <div className="row small">
        <Link to={runsAddress({ ...EVERYTHING, program: name })}>Runs</Link>
        <RunCounts program={name} />
      </div>
    </header>
  );
}

/** The newest ones, and the one that is shown. */
function offered(newest: number, shown: number): number[] {
  const count = Math.min(newest, VERSIONS_OFFERED);
  const numbers = Array.from({ length: count }, (_, index) => newest - index);
  return numbers.includes(shown) ? numbers : [...numbers, shown];
}

/** The same tab of another version; steps and lines are those of the old one. */
function addressOf(
  { name }: ProgramShown,
  { tab }: Shown,
  version: number,
  newest: number,
): string {
  return programAddress(name, {
    tab: tab === "document" ? null : tab,
    version: version === newest ? null : version,
  });
}
