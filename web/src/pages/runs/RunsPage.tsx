// Every run: how many are in which state, when they ran and how long, and each with what it waits
// for. What is shown is in the address.

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type ReactNode } from "react";

import { Failure } from "../../parts/Notice";
import { go, useWords } from "../../router";
import { counted } from "../../words/time";
import { Facets } from "./Facets";
import { filterIn, queryText, unknownStates } from "./filter";
import { Filters } from "./Filters";
import { Listing } from "./Listing";
import { Live } from "./Live";
import { askAgain, useChanges } from "./live";
import { matching, useFacets, usePoints } from "./queries";
import { Scatter } from "./scatter/Scatter";
import { HeldNews, useHeld } from "./table/held";
import { StateWords } from "./StateWords";
import { UnknownStates } from "./UnknownStates";
import { Views } from "./Views";
import "./runs.css";

export default function RunsPage(): ReactNode {
  const client = useQueryClient();
  const [words, change] = useWords();
  const filter = filterIn(words);
  const name = queryText(filter);
  const facets = useFacets(filter);
  const points = usePoints(filter);
  // Of which list: another begins at its top.
  const first = useRef({ name, row: 0 });
  const [held, hold, forget] = useHeld(name);
  const [shows, setShows] = useState(0);
  const liveness = useChanges({
    onChanges: (changes) => {
      askAgain(client, "runs", "facets");
      const isAtTop = first.current.name !== name || first.current.row === 0;
      if (isAtTop) askAgain(client, "runs", "page");
      else hold(changes);
    },
    onSlowly: () => askAgain(client, "runs", "points"),
  });
  const showNews = (): void => {
    forget();
    setShows(shows + 1);
    first.current = { name, row: 0 };
    askAgain(client, "runs");
  };
  const shown = facets.data && matching(facets.data, filter);
  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        <Live liveness={liveness} />
        {shown !== undefined && <span className="soft">{counted(shown, "run")}</span>}
      </div>
      <Views filter={filter} />
      <Facets
        facets={facets.data}
        chosen={filter.state}
        onChange={(state) => change({ state }, false)}
      />
      <UnknownStates
        words={unknownStates(words)}
        onRemove={() => change({ state: filter.state })}
      />
      <Filters
        filter={filter}
        programs={facets.data?.programs ?? []}
        // Going back is not to go through every letter of a search.
        onChange={(changes) => change(changes, "text" in changes)}
        onClear={() => go(location.pathname)}
      />
      {facets.error && !facets.data && <Failure error={facets.error} />}
      {points.data && points.data.points.length > 0 && (
        <Scatter data={points.data} onRange={(since, until) => change({ since, until }, false)} />
      )}
      <HeldNews held={held} onShow={showNews} />
      <Listing
        key={`${name} ${shows}`}
        filter={filter}
        matching={shown}
        onFirst={(row) => void (first.current = { name, row })}
      />
      <StateWords />
    </>
  );
}
