// The box that is open over the page of a run.

import type { ReactNode } from "react";

import type { RunPicture } from "../../../api/types";
import { AnswerDialog } from "./AnswerDialog";
import type { Asked } from "./asked";
import { ForkDialog } from "./ForkDialog";
import { KeysDialog } from "./KeysDialog";
import { ReasonDialog } from "./ReasonDialog";
import { RetryDialog } from "./RetryDialog";
import { SignalDialog } from "./SignalDialog";
import { SkipDialog } from "./SkipDialog";

interface AskingProps {
  asked: Asked;
  picture: RunPicture;
  at: number | null;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

export function Asking({ asked, picture, at, onDone, onClose }: AskingProps): ReactNode {
  const end = { onDone, onClose };
  switch (asked.act) {
    case "cancel":
    case "pause":
    case "resume":
      return <ReasonDialog change={asked.act} picture={picture} {...end} />;
    case "skip":
      return <SkipDialog picture={picture} wait={asked.wait} {...end} />;
    case "retry":
      return <RetryDialog picture={picture} step={asked.step} {...end} />;
    case "fork":
      return <ForkDialog picture={picture} at={at} {...end} />;
    case "answer":
      return <AnswerDialog question={asked.question} answer={asked.answer} {...end} />;
    case "signal":
      return <SignalDialog signal={asked.signal} {...end} />;
    case "keys":
      return <KeysDialog onClose={onClose} />;
  }
}
