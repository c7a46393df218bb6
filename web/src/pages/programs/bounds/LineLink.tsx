// The way to a line of the document.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../../api/types";
import { Link } from "../../../router";
import { programAddress } from "../queries";
import { useShown } from "../shown";
import type { Place } from "./report";

interface LineLinkProps {
  program: ProgramShown;
  place: Place;
  /** Where the line is shown; the tab of the document unless given. */
  tab?: string;
}

/** A line of another document has no link: which version of it is meant, nobody knows. */
export function LineLink({ program, place, tab }: LineLinkProps): ReactNode {
  const [{ version }] = useShown();
  if (place.line === null) return null;
  const isOther = place.file !== null && place.file !== program.file;
  if (isOther && !Object.hasOwn(program.files, place.file ?? "")) {
    return (
      <span className="soft">
        {place.file}, line {place.line}
      </span>
    );
  }
  const to = programAddress(program.name, {
    tab: tab ?? null,
    version,
    file: isOther ? place.file : null,
    line: place.line,
  });
  return <Link to={to}>line {place.line}</Link>;
}
