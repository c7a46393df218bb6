// A name, of those that are known or another one.

import { useId, type ReactNode } from "react";

import { TypedInput } from "./TypedInput";

interface NameAskedProps {
  name: string;
  className: string;
  value: string;
  known: readonly string[];
  onChange: (value: string) => void;
  title?: string;
}

export function NameAsked(props: NameAskedProps): ReactNode {
  const list = useId();
  return (
    <label className={`field ${props.className}`}>
      {props.name}
      <TypedInput
        isWhole
        value={props.value}
        choices={props.known}
        list={list}
        onChange={props.onChange}
        placeholder="any"
        {...(props.title === undefined ? {} : { title: props.title })}
      />
      <datalist id={list}>
        {props.known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}
