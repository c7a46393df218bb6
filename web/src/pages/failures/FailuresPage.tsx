// Failed runs by what went wrong: one line for a problem, however many runs it has, and a way to
// retry one of them, some or all. What is shown is in the address.

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Failure, Loading } from "../../parts/Notice";
import { useWords } from "../../router";
import { counted } from "../../words/time";
import { Choice } from "../runs/Choice";
import { SINCE } from "../runs/Filters";
import { EVERYTHING } from "../runs/filter";
import { Live } from "../runs/Live";
import { askAgain, useChanges } from "../runs/live";
import { ProgramAsked } from "../runs/ProgramAsked";
import { useFacets } from "../runs/queries";
import { Group } from "./Group";
import { ordered, ORDERS, RETRIED, useFailures } from "./queries";
import { useKept } from "./useKept";
import "../runs/runs.css";
import "./failures.css";

export default function FailuresPage(): ReactNode {
  const client = useQueryClient();
  const [words, change] = useWords();
  const [since, program] = [words.get("since"), words.get("program")];
  const order = words.get("order") ?? "";
  const asked = { since, program, isWhole: words.get("retried") === "true" };
  const failures = useFailures(asked);
  const programs = useFacets(EVERYTHING).data?.programs ?? [];
  const liveness = useChanges({
    onChanges: () => askAgain(client, "failures"),
    onSlowly: () => askAgain(client, "runs"),
  });
  const set = (word: string) => (value: string) => change({ [word]: value || null }, false);
  const groups = failures.data?.groups ?? [];
  const shown = useKept(groups, words.get("group"), JSON.stringify(asked));
  return (
    <>
      <div className="page-head">
        <h1>Failures</h1>
        <Live liveness={liveness} />
        {failures.data && <span className="soft">{total(groups, failures.data.is_cut)}</span>}
      </div>
      <div className="runs-filters" role="search" aria-label="Failures">
        <Choice name="Failed" choices={SINCE} value={since ?? ""} onChange={set("since")} />
        <ProgramAsked value={program ?? ""} programs={programs} onChange={set("program")} />
        <Choice
          name="Retried runs"
          choices={RETRIED}
          value={asked.isWhole ? "true" : ""}
          onChange={set("retried")}
        />
        <Choice name="Order" choices={ORDERS} value={order} onChange={set("order")} />
      </div>
      {failures.isPending && <Loading what="failures" />}
      {failures.error && <Failure error={failures.error} />}
      {failures.data && shown.length === 0 && <NoFailures isNarrowed={!!since || !!program} />}
      <ul className="failures">
        {ordered(shown, order).map((group) => (
          <Group
            key={group.fingerprint}
            group={group}
            most={Math.max(...groups.map((one) => one.count))}
            asked={asked}
            isOpen={words.get("group") === group.fingerprint}
            onToggle={(isOpen) => change({ group: isOpen ? group.fingerprint : null }, false)}
          />
        ))}
      </ul>
    </>
  );
}

function total(groups: readonly { count: number }[], isCut: boolean): string {
  const runs = groups.reduce((sum, group) => sum + group.count, 0);
  const which = isCut ? "the newest " : "";
  return `${which}${counted(groups.length, "problem")} in ${counted(runs, "failed run")}`;
}

function NoFailures({ isNarrowed }: { isNarrowed: boolean }): ReactNode {
  return (
    <p className="sheet runs-empty">
      {isNarrowed
        ? "No such run failed in this time, or all were retried. Choose all time, or any program."
        : "No failed run is left. When one fails, it is listed here by what went wrong."}
    </p>
  );
}
