import type { ReactNode } from "react";

export default function WorkersPage(): ReactNode {
  return <h1>Workers</h1>;
}
