// The boxes in front of rows.

import type { ReactNode } from "react";

import type { RunText } from "../../../api/types";
import { allToggled, toggled, type Choice } from "./choice";
import { column, type RunColumn } from "./columns";

export function tickColumn(
  choice: Choice,
  inSight: readonly RunText[],
  onChoose: (choice: Choice) => void,
): RunColumn {
  const isTicked = (run: RunText): boolean => choice.isAll || choice.runs.has(run);
  const all = (
    <AllTick
      isTicked={inSight.length > 0 && inSight.every(isTicked)}
      isSome={inSight.some(isTicked)}
      onChange={() => onChoose(allToggled(choice, inSight))}
    />
  );
  return column("tick", all, "22px", (row) => (
    <label className="runs-tick">
      <input
        type="checkbox"
        aria-label={`Select run ${row.run}`}
        checked={isTicked(row.run)}
        onChange={() => onChoose(toggled(choice, row.run, inSight))}
        tabIndex={-1}
      />
    </label>
  ));
}

interface AllTickProps {
  isTicked: boolean;
  isSome: boolean;
  onChange: () => void;
}

function AllTick({ isTicked, isSome, onChange }: AllTickProps): ReactNode {
  return (
    <label className="runs-tick">
      <input
        type="checkbox"
        aria-label="Select the runs loaded here"
        checked={isTicked}
        ref={(box) => {
          if (box) box.indeterminate = isSome && !isTicked;
        }}
        onChange={onChange}
      />
    </label>
  );
}
