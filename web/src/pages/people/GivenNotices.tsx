// What became of the answers whose questions are gone from the page.

import type { ReactNode } from "react";

import { Notice } from "../../parts/Notice";
import { Link } from "../../router";
import { isConflict, type Given } from "./useAnswers";

const NOTICES_MAX = 3;

interface GivenNoticesProps {
  given: readonly Given[];
  onRead: (key: string) => void;
}

export function GivenNotices({ given, onRead }: GivenNoticesProps): ReactNode {
  const news = given.filter((one) => !one.isRead).slice(0, NOTICES_MAX);
  return news.map((one) => (
    <Notice key={one.key} tone={one.fate instanceof Error ? "bad" : "good"}>
      <div className="people-given">
        <p>
          {sentence(one)} <Link to={`/runs/${one.asked.run}`}>Open the run</Link>
        </p>
        <button type="button" className="small" onClick={() => onRead(one.key)}>
          Close
        </button>
      </div>
    </Notice>
  ));
}

function sentence({ asked, said, fate }: Given): string {
  const what = `“${said}” to “${asked.question}”`;
  if (fate === "sending") return `Sending ${what} …`;
  if (fate === "kept") return `Answered ${what}. ${asked.program} continues.`;
  const why = isConflict(fate) ? "It is not open any more" : "It was not taken";
  return `You answered ${what}. ${why}: ${fate.message}`;
}
