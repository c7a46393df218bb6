// A small table with a title; it scrolls inside itself where there is no room.

import { useId, type ReactNode } from "react";

import { counted } from "../../../words/time";

interface TableProps {
  title: string;
  heads: readonly string[];
  /** Which columns are numbers, 0 first. */
  numbers?: readonly number[];
  rows: readonly (readonly ReactNode[])[];
  /** So many rows are not shown. */
  more?: number;
  note?: string;
}

export function Table(props: TableProps): ReactNode {
  const { title, heads, numbers = [], rows, more = 0, note = "" } = props;
  const name = useId();
  const kind = (column: number): string | undefined =>
    numbers.includes(column) ? "number" : undefined;
  if (rows.length === 0) return null;
  return (
    <section className="sheet stack">
      <h2 id={name}>{title}</h2>
      <div className="table-scroll" role="region" aria-labelledby={name} tabIndex={0}>
        <table className="plain-table programs-table" aria-labelledby={name}>
          <thead>
            <tr>
              {heads.map((head, column) => (
                <th key={head} scope="col" className={kind(column)}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={heads[column]} className={kind(column)}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p className="small soft">and {counted(more, "row")} more</p>}
      {note !== "" && <p className="small soft">{note}</p>}
    </section>
  );
}
