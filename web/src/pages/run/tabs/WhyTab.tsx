// Why the run did what it did: of all of it, or of the chosen step.

import type { ReactNode } from "react";

import type { RunPicture } from "../../../api/types";
import { Failure, Loading } from "../../../parts/Notice";
import type { Show, Shown } from "../shown";
import { Paragraphs } from "./Paragraphs";
import { StepChoice } from "./StepChoice";
import { asOf, useExplanation } from "./useExplanation";

interface WhyTabProps {
  picture: RunPicture;
  shown: Shown;
  show: Show;
}

export function WhyTab({ picture, shown, show }: WhyTabProps): ReactNode {
  const found = useExplanation(picture, shown.step);
  return (
    <>
      <StepChoice picture={picture} step={shown.step} show={show} />
      {found.error !== null && <Failure error={found.error} />}
      {found.data === undefined ? (
        found.error === null && <Loading what="the explanation" />
      ) : (
        <Paragraphs found={asOf(found.data.paragraphs, shown.at)} show={show} />
      )}
    </>
  );
}
