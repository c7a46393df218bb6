import type { ReactNode } from "react";

export default function PeoplePage(): ReactNode {
  return <h1>People</h1>;
}
