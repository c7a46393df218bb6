// A start as a request and as a command line.

import type { Json, JsonObject } from "../../../api/types";
import type { Command } from "../../../parts/Commands";

export interface StartWanted {
  program: string;
  /** Null: the newest. */
  version: number | null;
  workload: JsonObject;
  key: string;
  labels: { [name: string]: string };
}

// What `--set` takes as one name: a dot would lead into an object.
const ONE_NAME = /^[^.=\s[\]]+$/;

export function startCommand(wanted: StartWanted): Command {
  const { program, version, workload, key, labels } = wanted;
  const set = Object.entries(workload).filter(([name]) => ONE_NAME.test(name));
  const rest = Object.entries(workload).filter(([name]) => !ONE_NAME.test(name));
  const cli = ["start", program];
  if (version !== null) cli.push("--version", String(version));
  for (const [name, value] of set) cli.push("--set", `${name}=${setText(value)}`);
  if (rest.length > 0) cli.push("--payload", JSON.stringify(Object.fromEntries(rest)));
  if (key !== "") cli.push("--key", key);
  for (const [name, value] of Object.entries(labels)) cli.push("--label", `${name}=${value}`);
  return {
    cli,
    method: "POST",
    path: "/api/v1/runs",
    body: {
      program,
      ...(version === null ? {} : { version }),
      workload,
      ...(key === "" ? {} : { key }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
  };
}

/** `--set` reads JSON where it is JSON: a text that looks like it is quoted. */
export function setText(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}
