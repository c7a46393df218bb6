// The same as a command line: whatever a button does can be done, and scripted, without this page.

import { useState, type ReactNode } from "react";

/** One call of the API. `cli` are the words after `anew`. */
export interface Command {
  cli: readonly string[];
  /** The last words, where they begin with a hyphen and are no options. */
  cliLast?: readonly string[];
  method: "GET" | "POST";
  path: string;
  body?: unknown;
}

const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** A word as a shell reads it back; whatever is in it stays one word. */
export function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** An option with a value of any kind: one that starts with a hyphen is not an option of its own. */
export function option(name: string, value: string): string[] {
  return value.startsWith("-") ? [`${name}=${value}`] : [name, value];
}

export function cliText(command: Command, origin: string): string {
  const last = command.cliLast?.length ? ["--", ...command.cliLast] : [];
  return ["anew", ...command.cli, "--server", origin, ...last].map(quoted).join(" ");
}

export function curlText(command: Command, origin: string): string {
  const words = ["curl", "-s", "-H", '"Authorization: Bearer $ANEW_TOKEN"'];
  if (command.method === "POST") {
    const body = quoted(JSON.stringify(command.body ?? {}));
    words.push("-H", "'Content-Type: application/json'", "-d", body);
  }
  return [...words, quoted(origin + command.path)].join(" ");
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" className="small" onClick={() => void copy()}>
      {isCopied ? "Copied" : label}
    </button>
  );
}

export function CommandLines({ command }: { command: Command }): ReactNode {
  const lines = [
    ["command line", cliText(command, location.origin)],
    ["HTTP", curlText(command, location.origin)],
  ] as const;
  return (
    <div className="commands">
      {lines.map(([name, text]) => (
        <div className="command" key={name}>
          <pre aria-label={name}>{text}</pre>
          <CopyButton text={text} />
        </div>
      ))}
    </div>
  );
}
