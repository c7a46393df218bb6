// Which of the files of a program is shown: the document, or one that it names.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../../api/types";
import { lastPart } from "../source";

interface FileChoiceProps {
  program: ProgramShown;
  file: string | null;
  onChange: (file: string | null) => void;
}

export function FileChoice({ program, file, onChange }: FileChoiceProps): ReactNode {
  const others = Object.keys(program.files);
  if (others.length === 0) {
    return (
      <code className="programs-filename" title={program.file}>
        {lastPart(program.file)}
      </code>
    );
  }
  return (
    <select
      aria-label="File"
      value={file ?? ""}
      onChange={(event) => onChange(event.target.value || null)}
    >
      <option value="">{lastPart(program.file)}</option>
      {others.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
