// Words that the questions shown have in them; kept in the address. The key / goes there.

import { useRef, type ReactNode } from "react";

import { useWords } from "../../router";
import { useKeys } from "../runs/keys";

export function Search(): ReactNode {
  const [words, change] = useWords();
  const field = useRef<HTMLInputElement>(null);
  useKeys(["/"], () => field.current?.focus());
  return (
    <div role="search">
      <label className="field">
        Search
        <input
          ref={field}
          type="search"
          value={words.get("text") ?? ""}
          placeholder="question, program, label"
          aria-keyshortcuts="/"
          title="Key /"
          onChange={(event) => change({ text: event.target.value || null })}
        />
      </label>
    </div>
  );
}
