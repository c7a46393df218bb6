// An input whose text takes effect when people have typed it: after a pause, or with Enter.

import { useEffect, useRef, useState, type ReactNode, type Ref } from "react";

const PAUSE_MS = 300;

interface TypedInputProps {
  value: string;
  onChange: (value: string) => void;
  /** Half of a name finds nothing: wait for Enter, for leaving, or for a choice of the list. */
  isWhole?: boolean;
  choices?: readonly string[];
  list?: string;
  type?: "text" | "search" | "number";
  placeholder?: string;
  isDisabled?: boolean;
  title?: string;
  keys?: string;
  ref?: Ref<HTMLInputElement>;
}

export function TypedInput(props: TypedInputProps): ReactNode {
  const { value, onChange, isWhole = false, choices = [], type = "text" } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle = (text: string | null): void => {
    clearTimeout(timer.current);
    setDraft(null);
    if (text !== null && text !== value) onChange(text);
  };
  const takeText = (text: string): void => {
    clearTimeout(timer.current);
    if (choices.includes(text) || text === "") return settle(text);
    setDraft(text);
    if (!isWhole) timer.current = setTimeout(() => settle(text), PAUSE_MS);
  };
  return (
    <input
      ref={props.ref}
      type={type}
      min={type === "number" ? 1 : undefined}
      value={draft ?? value}
      list={props.list}
      placeholder={props.placeholder}
      title={props.title}
      disabled={props.isDisabled}
      aria-keyshortcuts={props.keys}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => takeText(event.target.value)}
      onBlur={() => settle(draft)}
      onKeyDown={(event) => {
        if (event.key === "Enter") settle(draft);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
