// The versions of a program: how any two differ, and which open runs of older ones could move to the
// newest.

import { useEffect, useRef, type ReactNode } from "react";

import type { ProgramRow, ProgramShown } from "../../../api/types";
import { Failure, Loading } from "../../../parts/Notice";
import { At } from "../../../parts/Time";
import { Link } from "../../../router";
import { EVERYTHING, runsAddress } from "../../runs/filter";
import { programAddress, useVersions } from "../queries";
import { lastPart } from "../source";
import type { Show, Shown } from "../shown";
import { OpenRuns } from "./OpenRuns";
import { VersionDiff } from "./VersionDiff";

interface VersionsTabProps {
  program: ProgramShown;
  shown: Shown;
  show: Show;
}

export function VersionsTab({ program, shown, show }: VersionsTabProps): ReactNode {
  const found = useVersions(program.name);
  const diff = useRef<HTMLDivElement>(null);
  const isAsked = shown.from !== null && shown.to !== null;
  // Below a long list nobody sees that something was chosen.
  useEffect(() => {
    if (isAsked) diff.current?.scrollIntoView({ block: "nearest" });
  }, [isAsked, shown.from, shown.to]);
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the versions" />;
  }
  const rows = found.data.pages.flatMap((page) => page.versions);
  const newest = rows[0];
  const to = shown.to ?? program.version;
  const from = shown.from ?? (to > 1 ? to - 1 : null);
  return (
    <>
      {newest && <OpenRuns newest={newest} />}
      <div className="sheet sheet-flush table-scroll" role="region" aria-label="Versions">
        <table className="plain-table programs-versions">
          <thead>
            <tr>
              {["from", "to", "version", "registered", "file", "digest", "runs"].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.version} row={row} chosen={{ from, to }} show={show} />
            ))}
          </tbody>
        </table>
      </div>
      {found.hasNextPage && (
        <div>
          <button
            type="button"
            disabled={found.isFetchingNextPage}
            onClick={() => void found.fetchNextPage()}
          >
            Older versions
          </button>
        </div>
      )}
      <div ref={diff} className="stack">
        {from === null ? (
          <p className="soft">There is one version: nothing to compare it with.</p>
        ) : (
          <VersionDiff name={program.name} from={from} to={to} />
        )}
      </div>
    </>
  );
}

interface RowProps {
  row: ProgramRow;
  chosen: { from: number | null; to: number };
  show: Show;
}

function Row({ row, chosen, show }: RowProps): ReactNode {
  const { name, version } = row;
  return (
    <tr>
      {(["from", "to"] as const).map((end) => (
        <td key={end}>
          <input
            type="radio"
            name={`version-${end}`}
            aria-label={`compare ${end} version ${version}`}
            checked={chosen[end] === version}
            onChange={() => show({ ...chosen, [end]: version })}
          />
        </td>
      ))}
      <td>
        <Link to={programAddress(name, { version })}>{version}</Link>
      </td>
      <td>
        <At at={row.registered_at} />
      </td>
      <td>
        <code title={row.file}>{lastPart(row.file)}</code>
      </td>
      <td>
        <code title={row.digest}>{row.digest.slice(0, 12)}</code>
      </td>
      <td>
        <Link
          to={runsAddress({ ...EVERYTHING, program: name, version: String(version) })}
          label={`runs of version ${version}`}
        >
          runs
        </Link>
      </td>
    </tr>
  );
}
