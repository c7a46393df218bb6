// The table of runs: pages as they come into sight, and boxes to tick.

import { useRef, type KeyboardEvent, type ReactNode } from "react";

import { Grid } from "../../../parts/Grid";
import { Failure } from "../../../parts/Notice";
import { go } from "../../../router";
import { useKeys } from "../keys";
import type { RunPages } from "../pages";
import { here, toggled, type Choice } from "./choice";
import { CARD, COLUMNS, type RunColumn } from "./columns";
import { tickColumn } from "./Ticks";
import { useNarrow } from "../../../parts/useNarrow";

const HEAD_PIXELS = 34;
const ROW_PIXELS = 38;
const CARD_PIXELS = 84;
const LEAST_PIXELS = 150;

interface RunsTableProps {
  label: string;
  pages: RunPages;
  /** How high it may become: a CSS length. */
  height: string;
  choice: Choice;
  onChoose: (choice: Choice) => void;
  empty: ReactNode;
  /** The first row in sight has changed. */
  onFirst?: (first: number) => void;
  columns?: readonly RunColumn[];
}

export function RunsTable(props: RunsTableProps): ReactNode {
  const { pages, choice, onChoose, columns = COLUMNS } = props;
  const box = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const inSight = here(pages.rows);
  const rowHeight = isNarrow ? CARD_PIXELS : ROW_PIXELS;
  const needed = Math.max(LEAST_PIXELS, HEAD_PIXELS + pages.rows.length * rowHeight + 1);
  useKeys(["j", "k"], () => {
    box.current?.querySelector<HTMLElement>('.grid-row[tabindex="0"]')?.focus();
  });
  const tick = (event: KeyboardEvent): void => {
    const row = event.target instanceof HTMLElement ? event.target.dataset["index"] : undefined;
    const run = row === undefined ? undefined : pages.rows[Number(row)]?.run;
    if (event.key === "x" && run !== undefined) onChoose(toggled(choice, run, inSight));
  };
  return (
    <div
      ref={box}
      className="sheet sheet-flush runs-table"
      onKeyDown={tick}
      aria-keyshortcuts="j k x Enter"
    >
      {pages.error && pages.rows.length > 0 && <Stale error={pages.error} />}
      <Grid
        label={props.label}
        columns={[tickColumn(choice, inSight, onChoose), ...(isNarrow ? CARD : columns)]}
        rows={pages.rows}
        rowKey={(row, index) => row?.run ?? `row ${index}`}
        rowHeight={rowHeight}
        height={`min(${needed}px, ${props.height})`}
        minWidth={isNarrow ? "0" : "1020px"}
        onOpen={(row) => row && go(`/runs/${row.run}`)}
        onRange={(first, last) => {
          pages.onRange(first, last);
          props.onFirst?.(first);
        }}
        empty={<Empty pages={pages}>{props.empty}</Empty>}
      />
      {!isNarrow && pages.rows.length > 0 && <Keys />}
    </div>
  );
}

function Keys(): ReactNode {
  return (
    <p className="runs-keys">
      <kbd>j</kbd> <kbd>k</kbd> move between rows, <kbd>x</kbd> selects one, <kbd>Enter</kbd> opens
      it.
    </p>
  );
}

function Stale({ error }: { error: Error }): ReactNode {
  return <p className="runs-stale small">Shown is what was known last. {error.message}</p>;
}

function Empty({ pages, children }: { pages: RunPages; children: ReactNode }): ReactNode {
  if (pages.error) return <Failure error={pages.error} />;
  if (pages.isLoading) return <p className="runs-empty runs-late soft">Loading runs …</p>;
  return <div className="runs-empty">{children}</div>;
}
