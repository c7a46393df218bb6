// The preview of an action while it is being put together: on its way, refused, or shown.

import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { PreviewShown } from "../../../api/types";
import { Failure, Loading } from "../../../parts/Notice";
import { Preview } from "./Preview";

export function Foreseen({ found }: { found: UseQueryResult<PreviewShown> }): ReactNode {
  if (found.error !== null) return <Failure error={found.error} />;
  if (found.data === undefined) return <Loading what="what will happen" />;
  return <Preview preview={found.data} />;
}
