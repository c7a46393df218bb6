// Says which run a start form was filled in from, and what of it is missing.

import type { ReactNode } from "react";

import { Notice } from "../../../parts/Notice";
import { Link } from "../../../router";

interface LikeNoticeProps {
  run: string;
  withheld: readonly string[];
}

export function LikeNotice({ run, withheld }: LikeNoticeProps): ReactNode {
  return (
    <Notice tone={withheld.length > 0 ? "late" : "calm"}>
      Filled in like run <Link to={`/runs/${run}`}>{run}</Link>.
      {withheld.length > 0 &&
        ` Not shown in full, because they are large or secret: ${withheld.join(", ")}. Give them yourself.`}
    </Notice>
  );
}
