// Every registered program with its newest version and its runs, and a way to register another.

import { useRef, type ReactNode } from "react";

import { Failure, Loading } from "../../parts/Notice";
import { useWords } from "../../router";
import { counted } from "../../words/time";
import { useKeys } from "../runs/keys";
import { Live } from "../runs/Live";
import { ProgramsTable } from "./list/ProgramsTable";
import "../runs/runs.css";
import "./programs.css";
import { usePrograms } from "./queries";
import { Register } from "./register/Register";
import { useLiveCounts } from "./useLiveCounts";

export default function ProgramsPage(): ReactNode {
  const [words, change] = useWords();
  const search = useRef<HTMLInputElement>(null);
  const liveness = useLiveCounts();
  const { data, error } = usePrograms();
  const text = words.get("text") ?? "";
  const isRegistering = words.has("register");
  useKeys(["/"], () => search.current?.focus());
  const found = data?.filter((row) => row.name.toLowerCase().includes(text.toLowerCase())) ?? [];
  return (
    <>
      <div className="page-head">
        <h1>Programs</h1>
        <Live liveness={liveness} />
        {data && <span className="soft">{counted(data.length, "program")}</span>}
      </div>
      <div className="row">
        <input
          ref={search}
          type="search"
          value={text}
          placeholder="Find a program"
          aria-label="Find a program"
          aria-keyshortcuts="/"
          title="Press / to come here"
          onChange={(event) => change({ text: event.target.value || null })}
        />
        <button
          type="button"
          className={isRegistering ? "" : "main"}
          aria-expanded={isRegistering}
          onClick={() => change({ register: isRegistering ? null : "yes" }, false)}
        >
          {isRegistering ? "Close" : "Register a document"}
        </button>
      </div>
      {isRegistering && <Register />}
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading what="programs" />}
      {data && (
        <ProgramsTable programs={found} empty={data.length > 0 ? <NoMatch /> : <NoProgram />} />
      )}
    </>
  );
}

function NoProgram(): ReactNode {
  return (
    <p>
      No program is registered yet. Register a document here, or with{" "}
      <code>anew register FILE</code>.
    </p>
  );
}

function NoMatch(): ReactNode {
  return <p>No program has this in its name.</p>;
}
