// Asks the HTTP API. What it refuses is an ApiProblem, with the problem it sent; a server that
// cannot be reached is an Unreachable.

import { forgetToken, token } from "./token";
import type { Problem } from "./types";

export type Query = {
  [name: string]: string | number | boolean | readonly string[] | null | undefined;
};

export class ApiProblem extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }

  get status(): number {
    return this.problem.status;
  }
}

/** What was asked for, which says what is true when no answer came: reads are asked again by the page,
 * a change may have been made, and a question by POST has changed nothing. */
type Asking = "read" | "change" | "question";

const UNANSWERED: { [asking in Asking]: string } = {
  read: "This page retries automatically.",
  change: "Whether anything changed is not known; look again when it is back.",
  question: "Nothing was changed; try again when it is back.",
};

export class Unreachable extends Error {
  constructor(asking: Asking = "read") {
    super(`The server cannot be reached. ${UNANSWERED[asking]}`);
  }
}

/** `/api/v1/runs?state=retrying&limit=50`; what is null, false or empty is left out. */
export function address(path: string, query: Query = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) {
        words.append(name, String(one));
      }
    }
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

export function headers(more: { [name: string]: string } = {}): { [name: string]: string } {
  const known = token();
  return known === null ? more : { Authorization: `Bearer ${known}`, ...more };
}

async function ask(path: string, init: RequestInit, asking: Asking = "read"): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, credentials: "omit" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreachable(asking);
  }
  if (answer.ok) return answer;
  throw await refusal(answer, asking);
}

/** What an answer that is no success says; a token that is not the server's is forgotten. */
export async function refusal(answer: Response, asking: Asking = "read"): Promise<Error> {
  if (answer.status === 401) forgetToken();
  const text = await answer.text();
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "detail" in problem) {
      return new ApiProblem(problem as Problem);
    }
  } catch {
    // What stands between us and the server may answer with anything.
  }
  if (answer.status >= 502) return new Unreachable(asking);
  const title = `The server answered ${answer.status}`;
  return new ApiProblem({ type: "about:blank", title, status: answer.status, detail: title });
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const init = signal === undefined ? {} : { signal };
  const answer = await ask(address(path, query), { headers: headers(), ...init });
  return (await answer.json()) as T;
}

export async function getText(path: string, query: Query = {}): Promise<string> {
  return (await ask(address(path, query), { headers: headers() })).text();
}

/** Change something. */
export function post<T>(path: string, body: unknown = {}): Promise<T> {
  return send<T>(path, body, "change");
}

/** Ask what takes a body to ask, and changes nothing: a dry run, a document to look at. */
export function inquire<T>(path: string, body: unknown): Promise<T> {
  return send<T>(path, body, "question");
}

async function send<T>(path: string, body: unknown, asking: Asking): Promise<T> {
  const init = {
    method: "POST",
    headers: headers({ "Content-Type": "application/json" }),
    body: JSON.stringify(body),
  };
  return (await (await ask(path, init, asking)).json()) as T;
}
