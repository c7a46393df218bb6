// Server-sent events, read with fetch: a browser's own EventSource sends no token.
//
// A stream that breaks is opened again after what was seen last (Last-Event-ID), so that no event is
// lost or sent twice, however often the server is restarted.

import { headers, refusal } from "./client";

export interface Message {
  id: string;
  data: string;
}

/** `open`: events come as they happen. `broken`: it is being opened again. `over`: all was shown. */
export type StreamState = "connecting" | "open" | "broken" | "over";

export interface Listening {
  onMessage: (message: Message) => void;
  onState?: (state: StreamState) => void;
  /** A refusal: asking again would not help. */
  onRefused?: (error: Error) => void;
}

const FIRST_PAUSE_MS = 250;
const PAUSE_MS_MAX = 5_000;
// A living stream says something every 15 seconds.
const SILENCE_MS_MAX = 45_000;

/** Cuts what arrives, in pieces of any size, into messages. */
export class Blocks {
  private text = "";

  feed(piece: string): Message[] {
    this.text += piece;
    const parts = this.text.split("\n\n");
    this.text = parts.pop() ?? "";
    return parts.map(message).filter((found) => found !== null);
  }
}

function message(block: string): Message | null {
  let id = "";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length === 0 ? null : { id, data: data.join("\n") };
}

/** Listen until the answer is called. `seen` is the last event that is known already. */
export function listen(path: string, seen: string, listener: Listening): () => void {
  const stop = new AbortController();
  void follow(path, seen, listener, stop.signal);
  return () => stop.abort();
}

async function follow(
  path: string,
  seen: string,
  listener: Listening,
  stopped: AbortSignal,
): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  let last = seen;
  const hear = (message: Message): void => {
    if (message.id) last = message.id;
    pause = FIRST_PAUSE_MS;
    listener.onMessage(message);
  };
  listener.onState?.("connecting");
  while (!stopped.aborted) {
    const ended = await once(path, last, hear, listener, stopped);
    if (stopped.aborted) return;
    if (ended instanceof Error) return listener.onRefused?.(ended);
    if (ended === "over") return listener.onState?.("over");
    listener.onState?.("broken");
    await slept(pause, stopped);
    pause = Math.min(2 * pause, PAUSE_MS_MAX);
  }
}

async function once(
  path: string,
  seen: string,
  hear: (message: Message) => void,
  listener: Listening,
  stopped: AbortSignal,
): Promise<"over" | "broken" | Error> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
  try {
    const signal = AbortSignal.any([stopped, silent.signal]);
    const more: { [name: string]: string } = seen ? { "Last-Event-ID": seen } : {};
    const asked = headers({ Accept: "text/event-stream", ...more });
    const answer = await fetch(path, { headers: asked, signal, credentials: "omit" });
    if (answer.status === 204) return "over";
    if (answer.status >= 500 || answer.status === 429) return "broken";
    if (!answer.ok || answer.body === null) return await refusal(answer);
    listener.onState?.("open");
    const blocks = new Blocks();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
      blocks.feed(piece.value).forEach(hear);
    }
    return "broken";
  } catch {
    return "broken";
  } finally {
    clearTimeout(timer);
  }
}

async function slept(milliseconds: number, stopped: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    const timer = setTimeout(done, milliseconds);
    stopped.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}
