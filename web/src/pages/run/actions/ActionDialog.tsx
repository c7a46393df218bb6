// One action on a run, before it is taken: what will happen, the same without this page, and yes
// or no. What the command lines show is exactly what is sent.

import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, type FormEvent, type ReactNode } from "react";

import { post } from "../../../api/client";
import { CommandLines, type Command } from "../../../parts/Commands";
import { Dialog } from "../../../parts/Dialog";
import { Failure } from "../../../parts/Notice";

interface ActionDialogProps<Answer> {
  title: string;
  command: Command;
  /** The word of the button that does it. */
  confirm: string;
  isHarm?: boolean;
  /** Something is missing or wrong: it cannot be done yet. */
  isBlocked?: boolean;
  onDone: (answer: Answer) => void;
  onClose: () => void;
  children: ReactNode;
}

export function ActionDialog<Answer>(props: ActionDialogProps<Answer>): ReactNode {
  const { command, onDone, onClose } = props;
  const form = useRef<HTMLFormElement>(null);
  const action = useMutation({
    mutationFn: () => post<Answer>(command.path, command.body),
    onSuccess: onDone,
  });
  // A key to open it and Enter do it. Harm asks why first.
  const first = props.isHarm ? "input, textarea, select" : "[type=submit]";
  useEffect(() => form.current?.querySelector<HTMLElement>(first)?.focus(), [first]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!props.isBlocked && !action.isPending) action.mutate();
  };
  return (
    <Dialog title={props.title} onClose={onClose}>
      <form ref={form} className="stack" onSubmit={submit}>
        {props.children}
        {action.error !== null && <Failure error={action.error} />}
        <details className="run-same">
          <summary>CLI and API</summary>
          <CommandLines command={command} />
        </details>
        <div className="row run-decide">
          <button
            type="submit"
            className={props.isHarm ? "harm" : "main"}
            disabled={props.isBlocked || action.isPending}
          >
            {action.isPending ? "On its way …" : props.confirm}
          </button>
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  );
}
