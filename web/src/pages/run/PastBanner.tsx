// Says that what is shown is not now, and brings back to it.

import type { ReactNode } from "react";

import type { RunPicture } from "../../api/types";
import { At } from "../../parts/Time";

interface PastBannerProps {
  at: number;
  newest: number;
  picture: RunPicture | undefined;
  onBack: () => void;
}

export function PastBanner({ at, newest, picture, onBack }: PastBannerProps): ReactNode {
  return (
    <div className="run-past" role="status">
      <span>
        <strong>
          As of event {at.toLocaleString("en")} of {newest.toLocaleString("en")}
        </strong>
        {picture?.at === at && (
          <>
            , <At at={picture.now} />
          </>
        )}
      </span>
      <button type="button" className="small" aria-keyshortcuts="n" onClick={onBack}>
        Back to now
      </button>
    </div>
  );
}
