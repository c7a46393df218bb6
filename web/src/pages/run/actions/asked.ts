// Which box is open over the page of a run, and what for.

import type { AwaitedRow, QuestionRow, WaitShown } from "../../../api/types";
import type { Change } from "./ReasonDialog";

export type Asked =
  | { act: Change }
  | { act: "skip"; wait: WaitShown | null }
  | { act: "retry"; step: string | null }
  | { act: "fork" }
  | { act: "answer"; question: QuestionRow; answer: string }
  | { act: "signal"; signal: AwaitedRow }
  | { act: "keys" };
