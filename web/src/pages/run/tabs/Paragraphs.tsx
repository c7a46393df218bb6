// Paragraphs of an explanation, each with the event it is about.

import { useState, type ReactNode } from "react";

import type { ParagraphRow } from "../../../api/types";
import type { Show } from "../shown";

const SHOWN_AT_ONCE = 100;

interface ParagraphsProps {
  found: readonly ParagraphRow[];
  show: Show;
}

/** The newest where there are many: that is what someone asks about. */
export function Paragraphs({ found, show }: ParagraphsProps): ReactNode {
  const [count, setCount] = useState(SHOWN_AT_ONCE);
  const hidden = Math.max(0, found.length - count);
  if (found.length === 0) return <p className="soft">There is nothing to explain yet.</p>;
  return (
    <>
      {hidden > 0 && (
        <div>
          <button
            type="button"
            className="plain"
            onClick={() => setCount(count + 10 * SHOWN_AT_ONCE)}
          >
            {hidden.toLocaleString("en")} earlier paragraphs
          </button>
        </div>
      )}
      <ol className="run-paragraphs">
        {found.slice(hidden).map((paragraph, index) => (
          <li key={hidden + index}>
            {paragraph.seq === null ? (
              <span className="run-seq soft">now</span>
            ) : (
              <button
                type="button"
                className="plain run-seq"
                title={`Look at the run as of event ${paragraph.seq}`}
                onClick={() => show({ at: paragraph.seq })}
              >
                {paragraph.seq}
              </button>
            )}
            <p>
              <strong>{paragraph.head}</strong>
              <br />
              {paragraph.text}
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}
