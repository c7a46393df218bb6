// What else comes from outside: the runs that wait for a signal.

import type { ReactNode } from "react";

import { ShapeIcon } from "../../parts/Mark";
import { Link } from "../../router";
import { EVERYTHING, runsAddress } from "../runs/filter";
import { useFacets } from "../runs/queries";

export function Signals(): ReactNode {
  const count = useFacets(EVERYTHING).data?.states.signal ?? 0;
  if (count === 0) return null;
  const number = count.toLocaleString("en");
  return (
    <Link to={runsAddress({ ...EVERYTHING, state: ["signal"] })} className="button people-signals">
      <ShapeIcon shape="signal" />
      {count === 1 ? "1 run waits for a signal" : `${number} runs wait for a signal`}
    </Link>
  );
}
