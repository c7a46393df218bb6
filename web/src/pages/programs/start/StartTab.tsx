// Start a run: a form made from the workload of the program, filled in like a run where the address
// names one, and the same as a command.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";

import { get, post } from "../../../api/client";
import type { ProgramShown, RunPicture, StartedRun, WorkloadField } from "../../../api/types";
import { CommandLines } from "../../../parts/Commands";
import { Failure, Loading } from "../../../parts/Notice";
import { go, useWords } from "../../../router";
import { useInspected } from "../editor/useInspected";
import { startCommand } from "./command";
import { FieldInput } from "./FieldInput";
import { firstText, labelsOf, workloadOf, type Typed } from "./fields";
import { EMPTY, filledLike, type Filled } from "./like";
import { LikeNotice } from "./LikeNotice";
import { objectOf } from "../../run/actions/forkWords";
import { runPath } from "../../run/useRun";

interface StartTabProps {
  program: ProgramShown;
  isNewest: boolean;
}

export function StartTab({ program, isNewest }: StartTabProps): ReactNode {
  const [words] = useWords();
  const like = words.get("like");
  const found = useInspected(program);
  const run = useQuery({
    queryKey: ["programs", "like", like],
    queryFn: ({ signal }) => get<RunPicture>(`${runPath(like ?? "")}/picture`, {}, signal),
    enabled: like !== null,
    staleTime: Infinity,
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="what it asks for" />;
  }
  if (run.isLoading) return <Loading what={`the input of run ${like}`} />;
  const fields = found.data.workload;
  const filled = run.data === undefined ? EMPTY : filledLike(fields, run.data.workload);
  return (
    <>
      {run.error !== null && <Failure error={run.error} />}
      {run.data !== undefined && <LikeNotice run={run.data.run} withheld={filled.withheld} />}
      <StartForm key={run.data?.run} {...{ fields, filled, program, isNewest }} />
    </>
  );
}

interface StartFormProps extends StartTabProps {
  filled: Filled;
  fields: readonly WorkloadField[];
}

function StartForm({ fields, filled, program, isNewest }: StartFormProps): ReactNode {
  const [typed, setTyped] = useState<Typed>(filled.typed);
  const [more, setMore] = useState(filled.more);
  const [key, setKey] = useState("");
  const [labels, setLabels] = useState("");
  const { values, wrong } = workloadOf(fields, typed);
  const [others, pairs] = [objectOf(more), labelsOf(labels)];
  const command = startCommand({
    program: program.name,
    version: isNewest ? null : program.version,
    workload: { ...others, ...values },
    key: key.trim(),
    labels: pairs ?? {},
  });
  const starting = useMutation({
    mutationFn: () => post<StartedRun>(command.path, command.body),
    onSuccess: ({ run }) => go(`/runs/${run}`),
  });
  const isFit = wrong.size === 0 && others !== null && pairs !== null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isFit && !starting.isPending) starting.mutate();
  };
  return (
    <form className="sheet stack programs-start" onSubmit={submit} aria-label="Start a run">
      <h2>Workload</h2>
      {fields.length === 0 && <p className="soft">The document names no values to start with.</p>}
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          typed={typed.get(field.name) ?? firstText(field)}
          wrong={wrong.get(field.name)}
          isChanged={Object.hasOwn(values, field.name)}
          onChange={(text) => setTyped(new Map(typed).set(field.name, text))}
        />
      ))}
      <details open={filled.more !== ""}>
        <summary>Other values</summary>
        <TextField
          name="A JSON object, laid under the values above"
          value={more}
          wrong={others === null ? "This is not valid JSON object yet." : null}
          onChange={setMore}
        />
      </details>
      <h2>How it is found</h2>
      <label className="field">
        Key: the same key always means the same run
        <input value={key} placeholder="none" onChange={(event) => setKey(event.target.value)} />
      </label>
      <TextField
        name="Labels: name=value, one in a line"
        value={labels}
        wrong={pairs === null ? "A label is name=value." : null}
        onChange={setLabels}
      />
      {starting.error !== null && <Failure error={starting.error} />}
      <div className="row">
        <button type="submit" className="main" disabled={!isFit || starting.isPending}>
          {starting.isPending ? "On its way …" : "Start the run"}
        </button>
        {!isNewest && <span className="soft">of version {program.version}</span>}
      </div>
      <CommandLines command={command} />
    </form>
  );
}

interface TextFieldProps {
  name: string;
  value: string;
  wrong: string | null;
  onChange: (value: string) => void;
}

function TextField({ name, value, wrong, onChange }: TextFieldProps): ReactNode {
  return (
    <label className="field">
      {name}
      <textarea
        rows={2}
        className="mono"
        spellCheck={false}
        value={value}
        aria-invalid={wrong !== null}
        onChange={(event) => onChange(event.target.value)}
      />
      {wrong !== null && <span className="programs-wrong">{wrong}</span>}
    </label>
  );
}
