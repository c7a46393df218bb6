// Why a run failed, and how many others failed like it.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { get } from "../../api/client";
import type { JsonObject, RunFacets, RunPicture } from "../../api/types";
import { JsonView } from "../../parts/JsonView";
import { Link } from "../../router";
import { counted } from "../../words/time";
import type { Show } from "./shown";

export function Failed({ picture, show }: { picture: RunPicture; show: Show }): ReactNode {
  const { error, fingerprint, failed_step: step } = picture;
  if (error === null) return null;
  const message = said(error, "message") ?? "";
  const isShown = picture.verdict.reason.includes(message);
  return (
    <div className="run-failed">
      <dl className="facts small">
        <dt>error</dt>
        <dd>
          <code>{said(error, "kind") ?? "unknown"}</code> {!isShown && message}
        </dd>
        {step !== null && (
          <>
            <dt>step</dt>
            <dd>
              <button
                type="button"
                className="plain"
                onClick={() => show({ tab: "attempts", step })}
              >
                {step}
              </button>
            </dd>
          </>
        )}
        {fingerprint !== null && (
          <>
            <dt>fingerprint</dt>
            <dd>
              <code>{fingerprint}</code> <Others fingerprint={fingerprint} />
            </dd>
          </>
        )}
      </dl>
      <details className="small">
        <summary>The whole error</summary>
        <JsonView value={error} />
      </details>
    </div>
  );
}

function Others({ fingerprint }: { fingerprint: string }): ReactNode {
  const found = useQuery({
    queryKey: ["run", "alike", fingerprint],
    queryFn: ({ signal }) => get<RunFacets>("/api/v1/runs/facets", { fingerprint }, signal),
    staleTime: 30_000,
  });
  if (found.data === undefined) return null;
  const others = found.data.total - 1;
  if (others <= 0) return <span className="soft">no other run failed like this</span>;
  return (
    <Link to={`/?fingerprint=${encodeURIComponent(fingerprint)}`}>
      {counted(others, "other run")} failed like this
    </Link>
  );
}

/** A member of an error as text; errors come from programs, and may have anything in them. */
export function said(error: JsonObject, name: string): string | null {
  const value = error[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
