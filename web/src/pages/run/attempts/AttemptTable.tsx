// The table of attempts: one row each, with all that was decided about it.

import type { ReactNode } from "react";

import type { AttemptShown } from "../../../api/types";
import { Grid, type Column } from "../../../parts/Grid";
import { Mark } from "../../../parts/Mark";
import { At } from "../../../parts/Time";
import { duration } from "../../../words/time";
import { useNarrow } from "../../../parts/useNarrow";
import {
  attemptName,
  directiveWords,
  lookOf,
  messageOf,
  numberWords,
  outcomeWord,
  placeWords,
  taskWords,
} from "./attemptWords";
import { Decision } from "./Decision";
import { RuleLink } from "./RuleLink";

interface AttemptTableProps {
  run: string;
  attempts: readonly AttemptShown[];
  open: number | null;
  beside: number | null;
  onOpen: (seq: number) => void;
  onCompare: (seq: number | null) => void;
  onEnd: () => void;
}

const ROW = 58;
const NARROW_ROW = 118;
const HEAD = 36;

export function AttemptTable(props: AttemptTableProps): ReactNode {
  const { attempts, open } = props;
  const isNarrow = useNarrow();
  const rowHeight = isNarrow ? NARROW_ROW : ROW;
  const whole = HEAD + Math.max(attempts.length * rowHeight, 2 * ROW);
  return (
    <div className="sheet sheet-flush attempts-table">
      <Grid
        label="Attempts"
        columns={isNarrow ? narrowColumns(props) : columns(props)}
        rows={attempts}
        rowKey={(attempt) => String(attempt.seq)}
        rowHeight={rowHeight}
        height={`min(${whole}px, ${open === null ? 70 : 44}vh)`}
        minWidth={isNarrow ? "0" : "980px"}
        selected={open === null ? null : String(open)}
        reveals={open === null ? null : String(open)}
        onOpen={(attempt) => props.onOpen(attempt.seq)}
        onEnd={props.onEnd}
        empty={
          <p className="soft attempts-empty">
            No attempt is like this. Choose another step, task or outcome, or wait for one to start.
          </p>
        }
      />
    </div>
  );
}

function columns(props: AttemptTableProps): Column<AttemptShown>[] {
  const all: Column<AttemptShown>[] = [
    { id: "number", name: "Attempt", width: "66px", cell: numberWords },
    { id: "task", name: "Task", width: "minmax(110px, 0.8fr)", cell: (one) => <Task of={one} /> },
    { id: "started", name: "Started", width: "100px", cell: (one) => <At at={one.started_at} /> },
    { id: "took", name: "Took", width: "66px", isNumber: true, cell: tookWords },
    {
      id: "outcome",
      name: "Outcome",
      width: "minmax(190px, 1.4fr)",
      cell: (one) => <OutcomeMark of={one} />,
    },
    { id: "decided", name: "Decided", width: "112px", cell: (one) => decided(props.run, one) },
    {
      id: "why",
      name: "Delay",
      width: "minmax(280px, 3fr)",
      cell: (one) => <Decision attempt={one} />,
    },
  ];
  const cell = (one: AttemptShown): ReactNode => <CompareButton {...props} of={one} />;
  const name = <span className="visually-hidden">Compare</span>;
  return props.open === null ? all : [...all, { id: "compare", name, width: "82px", cell }];
}

function decided(run: string, one: AttemptShown): ReactNode {
  if (one.directive === null) return "";
  return (
    <span className="attempts-two small">
      <span title={directiveWords(one)}>{directiveWords(one)}</span>
      <RuleLink run={run} rule={one.rule} unmet={one.unmet} />
    </span>
  );
}

/** One column: what a phone has room for. */
function narrowColumns(props: AttemptTableProps): Column<AttemptShown>[] {
  const cell = (one: AttemptShown): ReactNode => (
    <span className="attempts-card">
      <span className="row">
        <strong>{numberWords(one)}</strong> <Task of={one} />
      </span>
      <span className="row">
        <OutcomeMark of={one} />
        <span className="soft">
          <At at={one.started_at} /> {tookWords(one)}
        </span>
      </span>
      <span className="row">
        {one.directive !== null && <RuleLink run={props.run} rule={one.rule} unmet={one.unmet} />}
        {directiveWords(one)}
      </span>
      <Decision attempt={one} />
    </span>
  );
  return [{ id: "attempt", name: "Attempts", width: "minmax(0, 1fr)", cell }];
}

function tookWords({ seconds }: AttemptShown): string {
  return seconds === null ? "" : duration(seconds);
}

function Task({ of }: { of: AttemptShown }): ReactNode {
  const place = placeWords(of);
  return (
    <span className="attempts-two" title={`${taskWords(of)} ${place}`}>
      <span>{taskWords(of)}</span>
      {place && <span className="soft small">{place}</span>}
    </span>
  );
}

function OutcomeMark({ of }: { of: AttemptShown }): ReactNode {
  const message = messageOf(of);
  return (
    <span className="attempts-two" title={message || undefined}>
      <span>
        <Mark look={lookOf(of)} word={outcomeWord(of)} />
      </span>
      {message && <span className="soft small">{message}</span>}
    </span>
  );
}

function CompareButton({ of, open, beside, onCompare }: AttemptTableProps & { of: AttemptShown }) {
  if (open === null || open === of.seq) return null;
  const isBeside = beside === of.seq;
  return (
    <button
      type="button"
      className="small attempts-compare"
      aria-pressed={isBeside}
      aria-label={`Compare with ${attemptName(of)}`}
      onClick={() => onCompare(isBeside ? null : of.seq)}
    >
      Compare
    </button>
  );
}
