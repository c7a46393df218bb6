// What the attempt printed: searched, wrapped, copied.

import { useState, type ReactNode } from "react";

import type { JsonObject } from "../../../api/types";
import { CopyButton } from "../../../parts/Commands";
import { counted } from "../../../words/time";
import { lineText, logLines, streamsOf, type LogLine } from "./logLines";

const LINES_SHOWN = 500;

export function Logs({ logs }: { logs: JsonObject }): ReactNode {
  const [stream, setStream] = useState<string | null>(null);
  const [wanted, setWanted] = useState("");
  const [wraps, setWraps] = useState(true);
  const streams = streamsOf(logs);
  if (streams.length === 0) return <p className="soft small">It printed and logged nothing.</p>;
  const lines = logLines(logs, stream, wanted);
  return (
    <section className="stack attempts-logs" aria-label="Logs">
      <div className="row small">
        <h3>Logs</h3>
        {streams.length > 1 && (
          <select
            aria-label="Stream"
            value={stream ?? ""}
            onChange={(event) => setStream(event.target.value || null)}
          >
            <option value="">all streams</option>
            {streams.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <input
          type="search"
          aria-label="Search the logs"
          placeholder="Search"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
        <label className="row">
          <input
            type="checkbox"
            checked={wraps}
            onChange={(event) => setWraps(event.target.checked)}
          />
          Wrap
        </label>
        <CopyButton text={lines.map(lineText).join("\n")} label="Copy lines" />
        <span className="soft" role="status">
          {counted(lines.length, "line")}
        </span>
      </div>
      <Lines key={`${stream} ${wanted}`} lines={lines} wraps={wraps} />
    </section>
  );
}

function Lines({ lines, wraps }: { lines: readonly LogLine[]; wraps: boolean }): ReactNode {
  const [shown, setShown] = useState(LINES_SHOWN);
  if (lines.length === 0) return <p className="soft">No line has this text.</p>;
  return (
    <div
      className={wraps ? "attempts-lines mono" : "attempts-lines mono attempts-unwrapped"}
      role="region"
      aria-label="Lines"
      tabIndex={0}
    >
      {lines.slice(0, shown).map((line, index) => (
        <div key={index} className={`attempts-line ${weight(line)}`}>
          <span className="attempts-stream">{line.level ?? line.stream}</span>
          <code>{line.text}</code>
        </div>
      ))}
      {lines.length > shown && (
        <button type="button" className="plain" onClick={() => setShown(shown + 10 * LINES_SHOWN)}>
          {counted(lines.length - shown, "more line")}
        </button>
      )}
    </div>
  );
}

function weight({ stream, level }: LogLine): string {
  if (level === "ERROR" || level === "CRITICAL") return "attempts-bad";
  return level === "WARNING" || stream === "stderr" ? "attempts-late" : "";
}
