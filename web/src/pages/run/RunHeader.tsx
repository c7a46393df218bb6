// Which run this is: its program, its state, when it began, and whom it belongs to.

import type { ReactNode } from "react";

import type { Doing, RunPicture } from "../../api/types";
import { CopyButton } from "../../parts/Commands";
import { Mark } from "../../parts/Mark";
import { At } from "../../parts/Time";
import { Link } from "../../router";
import { STATES, STEP_STATES, type Look } from "../../words/states";
import { duration, secondsBetween } from "../../words/time";
import { programAddress } from "../programs/queries";
import { Elapsed } from "./Elapsed";
import { Kin } from "./Kin";

const DIGEST_SHOWN = 12;

const FAILURES: ReadonlySet<Doing> = new Set(["retry", "retry_after", "jump"]);

/** Lists know a poll only as a delay; here it is known that nothing has failed. */
function lookOf({ state, waits }: RunPicture): Look {
  const polls = waits.some((wait) => wait.doing === "poll");
  const isPolling = polls && !waits.some((wait) => FAILURES.has(wait.doing));
  return state === "retrying" && isPolling ? STEP_STATES.polling : STATES[state];
}

export function RunHeader({ picture, isPast }: { picture: RunPicture; isPast: boolean }) {
  const { run, program } = picture;
  const look = lookOf(picture);
  return (
    <header className="run-head">
      <title>{`${program}: ${look.word} · Anew`}</title>
      <div className="page-head">
        <h1>
          {picture.version === null ? (
            program
          ) : (
            <Link to={`/programs/${encodeURIComponent(program)}`}>{program}</Link>
          )}
        </h1>
        <Mark look={look} />
        <span className="run-id">
          <span className="soft">run</span> <code>{run}</code>
          <CopyButton text={run} label="Copy id" />
        </span>
      </div>
      <p className="run-facts small soft">
        <Version picture={picture} />
        <span>
          started <At at={picture.created_at} />
        </span>
        <Length picture={picture} isPast={isPast} />
        <span>{picture.events.toLocaleString("en")} events</span>
        {picture.version !== null && (
          <Link to={programAddress(program, { tab: "start", like: run })}>Start one like this</Link>
        )}
        {picture.key !== null && (
          <span>
            key <code>{picture.key}</code>
          </span>
        )}
        {Object.entries(picture.labels).map(([name, value]) => (
          <Link
            key={name}
            to={`/?label=${encodeURIComponent(`${name}=${value}`)}`}
            className="label-chip"
          >
            {name}={value}
          </Link>
        ))}
      </p>
      <Kin picture={picture} />
    </header>
  );
}

function Version({ picture }: { picture: RunPicture }): ReactNode {
  const { version, digest } = picture;
  return (
    <span title={`digest ${digest}`}>
      {version === null ? "not registered" : `version ${version}`}{" "}
      <code>{digest.slice(0, DIGEST_SHOWN)}</code>
    </span>
  );
}

function Length({ picture, isPast }: { picture: RunPicture; isPast: boolean }): ReactNode {
  const { created_at: begin, ended_at: end, now } = picture;
  if (end !== null) return <span>took {duration(secondsBetween(begin, end))}</span>;
  return (
    <span>
      {isPast ? "had run for " : "for "}
      <Elapsed since={begin} now={isPast ? now : null} />
    </span>
  );
}
