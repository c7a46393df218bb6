// Which decisions of a program its newest runs have exercised: in words, point by point, and in the
// margin of the document.

import type { ReactNode } from "react";

import type { CoveragePoint, CoverageShown, ProgramShown } from "../../../api/types";
import { Mark } from "../../../parts/Mark";
import { Failure, Loading } from "../../../parts/Notice";
import { SourceView } from "../../../parts/SourceView";
import type { Look } from "../../../words/states";
import { counted } from "../../../words/time";
import { LineLink } from "../bounds/LineLink";
import { Table } from "../bounds/Table";
import { useCoverage } from "../queries";
import { lastPart } from "../source";

const NEVER: Look = { word: "never", tone: "late", shape: "slash" };
const POINTS_SHOWN = 500;

interface CoverageTabProps {
  program: ProgramShown;
  /** The line that is pointed at. */
  line: number | null;
}

export function CoverageTab({ program, line }: CoverageTabProps): ReactNode {
  const { data, error, isFetching, refetch } = useCoverage(program.name, program.version);
  if (data === undefined) {
    return error ? <Failure error={error} /> : <Loading what="what runs have exercised" />;
  }
  const points = uncoveredFirst(data.points);
  return (
    <>
      {error !== null && <Failure error={error} />}
      <Summary coverage={data} />
      <div>
        <button type="button" disabled={isFetching} onClick={() => void refetch()}>
          {isFetching ? "Counting …" : "Count again"}
        </button>
      </div>
      <div className="programs-beside">
        <SourceView
          text={program.document}
          label={lastPart(program.file)}
          notes={notesOf(data.points)}
          lines={line === null ? [] : [line]}
        />
        <Table
          title="What decides"
          heads={["happened", "what", "where"]}
          numbers={[]}
          rows={points
            .slice(0, POINTS_SHOWN)
            .map((point) => [
              point.hits === 0 ? (
                <Mark key="hits" look={NEVER} />
              ) : (
                `${point.hits.toLocaleString("en")}×`
              ),
              point.hits === 0 ? `${point.what} ${point.lack}` : point.what,
              <LineLink
                key="where"
                program={program}
                place={{ ...point, file: null }}
                tab="coverage"
              />,
            ])}
          more={points.length - POINTS_SHOWN}
        />
      </div>
    </>
  );
}

function Summary({ coverage }: { coverage: CoverageShown }): ReactNode {
  const { percent, points, runs, version } = coverage;
  const missing = points.filter((point) => point.hits === 0).length;
  if (points.length === 0) return <p>Nothing in this document decides anything.</p>;
  if (runs === 0) {
    return <p>No run of version {version} yet: nothing of it has been exercised.</p>;
  }
  return (
    <div className="programs-coverage">
      <p>
        <strong className="programs-percent">{percent.toLocaleString("en")} %</strong> of what
        decides in version {version} has happened in{" "}
        {runs === 1 ? "the one run of it" : `its newest ${runs} runs`}.{" "}
        {missing === 0
          ? "All of it."
          : `${counted(missing, "decision has", "decisions have")} never been made.`}
      </p>
      <progress max={100} value={percent} aria-label="Coverage in percent" />
    </div>
  );
}

export function uncoveredFirst(points: readonly CoveragePoint[]): CoveragePoint[] {
  return points.toSorted(
    (one, other) => Math.min(one.hits, 1) - Math.min(other.hits, 1) || one.line - other.line,
  );
}

/** Beside each line: how often what decides there happened; the least of several. */
export function notesOf(points: readonly CoveragePoint[]): { [line: number]: ReactNode } {
  const least = new Map<number, number>();
  for (const { line, hits } of points) least.set(line, Math.min(least.get(line) ?? hits, hits));
  const notes: { [line: number]: ReactNode } = {};
  for (const [line, hits] of least) {
    notes[line] =
      hits === 0 ? (
        <span className="programs-never" title="Never happened">
          never
        </span>
      ) : (
        <span className="programs-hits" title={`Happened ${hits} times`}>
          {hits.toLocaleString("en")}×
        </span>
      );
  }
  return notes;
}
