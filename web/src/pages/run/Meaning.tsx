// What a state means, where its word alone does not say it.

import type { ReactNode } from "react";

import type { State } from "../../api/types";
import { Link } from "../../router";

export function Meaning({ state }: { state: State }): ReactNode {
  if (state === "dead") {
    return (
      <p className="small soft">
        Given up: the workers that had it were lost, as often as its limit allows, and none of them
        reported why. <Link to="/workers">Workers</Link> shows who is there now. Retry it once they
        stay.
      </p>
    );
  }
  if (state === "parked") {
    return (
      <p className="small soft">
        It holds no worker while it sleeps or waits for a child run, and continues on its own.
      </p>
    );
  }
  return null;
}
