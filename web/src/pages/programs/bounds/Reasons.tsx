// Why there is no end, what is assumed, and what is warned of: each with the way to its line.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../../api/types";
import { LineLink } from "./LineLink";
import type { BoundsWarning, OpenReason } from "./report";

interface ReasonsProps {
  title: string;
  program: ProgramShown;
  reasons: readonly OpenReason[];
  none: string;
}

export function Reasons({ title, program, reasons, none }: ReasonsProps): ReactNode {
  return (
    <section className="sheet stack">
      <h2>{title}</h2>
      {reasons.length === 0 && <p className="soft">{none}</p>}
      {reasons.length > 0 && (
        <ul className="programs-reasons">
          {reasons.map((reason, number) => (
            <li key={number}>
              <LineLink program={program} place={reason} /> {reason.what}
              {reason.ends !== null && <span className="soft">; it ends with {reason.ends}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface WarningsProps {
  program: ProgramShown;
  warnings: readonly BoundsWarning[];
}

export function Warnings({ program, warnings }: WarningsProps): ReactNode {
  if (warnings.length === 0) return null;
  return (
    <section className="sheet stack">
      <h2>Warnings</h2>
      <ul className="programs-reasons">
        {warnings.map((warning, number) => (
          <li key={number}>
            <LineLink program={program} place={warning} /> {warning.message}{" "}
            <span className="soft">{warning.suggestion}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
