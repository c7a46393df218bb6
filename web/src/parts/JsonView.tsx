// JSON that can be opened branch by branch. Whatever is in it is text.

import { useState, type ReactNode } from "react";

import type { Json } from "../api/types";

const OPEN_LEVELS = 2;
const MEMBERS_SHOWN = 100;
const TEXT_SHOWN = 2_000;

interface JsonViewProps {
  value: Json | undefined;
  name?: string | undefined;
  level?: number;
}

export function JsonView({ value, name, level = 0 }: JsonViewProps): ReactNode {
  if (value === undefined) return <p className="soft">nothing</p>;
  const branch = <Branch value={value} name={name} level={level} />;
  return level === 0 ? <div className="json mono">{branch}</div> : branch;
}

function Branch({ value, name, level }: { value: Json; name?: string | undefined; level: number }) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS);
  const [shown, setShown] = useState(MEMBERS_SHOWN);
  if (typeof value !== "object" || value === null) return <Leaf value={value} name={name} />;
  const members = Array.isArray(value)
    ? value.map((one, index): [string, Json] => [String(index), one])
    : Object.entries(value);
  const size = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0) return <Leaf name={name} value={null} text={size} />;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {name !== undefined && <span className="name">{name}: </span>}
        <span className="soft">{size}</span>
      </summary>
      {isOpen &&
        members
          .slice(0, shown)
          .map(([key, one]) => <JsonView key={key} name={key} value={one} level={level + 1} />)}
      {isOpen && members.length > shown && (
        <button
          type="button"
          className="plain"
          onClick={() => setShown(shown + 10 * MEMBERS_SHOWN)}
        >
          {(members.length - shown).toLocaleString("en")} more
        </button>
      )}
    </details>
  );
}

interface LeafProps {
  value: string | number | boolean | null;
  name?: string | undefined;
  text?: string;
}

function Leaf({ value, name, text }: LeafProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  // A text of many lines is shown as it is meant; what is copied is JSON.
  const isLines = typeof value === "string" && value.includes("\n");
  const said = text ?? (isLines ? value : JSON.stringify(value));
  const isLong = said.length > TEXT_SHOWN && !isWhole;
  return (
    <div className="leaf">
      {name !== undefined && <span className="name">{name}: </span>}
      <span className={isLines ? "text lines" : typeof value === "string" ? "text" : "other"}>
        {isLong ? `${said.slice(0, TEXT_SHOWN)}…` : said}
      </span>
      {isLong && (
        <button type="button" className="plain" onClick={() => setWhole(true)}>
          all {said.length.toLocaleString("en")} characters
        </button>
      )}
    </div>
  );
}
