// The rows of one filter, and what can be done with the ticked ones.

import { useState, type ReactNode } from "react";

import { Link } from "../../router";
import { BulkBar } from "./bulk/BulkBar";
import { isEverything, type Filter } from "./filter";
import { useRunPages } from "./pages";
import { NOTHING } from "./table/choice";
import { RunsTable } from "./table/RunsTable";

interface ListingProps {
  filter: Filter;
  matching: number | undefined;
  onFirst: (first: number) => void;
}

export function Listing({ filter, matching, onFirst }: ListingProps): ReactNode {
  const pages = useRunPages(filter);
  const [choice, setChoice] = useState(NOTHING);
  return (
    <>
      <BulkBar filter={filter} choice={choice} onChoose={setChoice} matching={matching} />
      <RunsTable
        label="Runs"
        pages={pages}
        height="max(360px, calc(100vh - 170px))"
        choice={choice}
        onChoose={setChoice}
        onFirst={onFirst}
        empty={isEverything(filter) ? <FirstRun /> : <NoMatch />}
      />
    </>
  );
}

function FirstRun(): ReactNode {
  return (
    <>
      <p>There is no run yet.</p>
      <p className="soft">
        Start one with <code>anew start NAME</code>, or from the page of a{" "}
        <Link to="/programs">program</Link>.
      </p>
    </>
  );
}

function NoMatch(): ReactNode {
  return (
    <p>
      No run matches. Take a filter away, or look at <Link to="/">all runs</Link>.
    </p>
  );
}
