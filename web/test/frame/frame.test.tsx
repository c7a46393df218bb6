import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState, type ReactNode } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { App } from "../../src/App";
import { placeOf, titleOf } from "../../src/areas";
import { Dialog } from "../../src/parts/Dialog";
import { Grid } from "../../src/parts/Grid";
import { TokenAsked } from "../../src/parts/TokenAsked";
import { go } from "../../src/router";
import { facets, serve, show } from "../runs/fixtures";

vi.stubGlobal("matchMedia", () => ({
  matches: false,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
}));

beforeEach(() => {
  history.replaceState(null, "", "/");
  document.head.innerHTML = "<title>Anew</title>";
});

it.each([
  ["/", "Runs"],
  ["/runs", "Runs"],
  ["/runs/7", "Run 7"],
  ["/failures", "Failures"],
  ["/programs/a%2Fb/c", "a/b/c"],
  ["/programs/%zz", "%zz"],
  ["/people/7", "No such page"],
  ["/nowhere", "No such page"],
])("the page at %s has the title %s", (path, title) => expect(titleOf(path)).toBe(title));

it("reads a name that is not well encoded in its state", () => {
  expect(placeOf("/runs/%zz")).toEqual(["runs", "%zz"]);
});

describe("the frame", () => {
  it("tells in its title where one is, wherever one goes", async () => {
    serve({
      "GET /api/v1/runs": () => ({ runs: [], next: null }),
      "GET /api/v1/runs/facets": () => facets(),
      "GET /api/v1/runs/points": () => ({ points: [], is_cut: false }),
    });
    history.replaceState(null, "", "/people/7");
    show(<App />);
    await screen.findByText(/There is no page at \/people\/7/);
    expect(document.title).toBe("No such page · Anew");
    go("/");
    await waitFor(() => expect(document.title).toBe("Runs · Anew"));
  });

  it("has a small button for the colours that says what it does", () => {
    show(<App />);
    fireEvent.click(screen.getByRole("button", { name: "Use dark colours" }));
    expect(document.documentElement.dataset["scheme"]).toBe("dark");
    expect(screen.getByRole("button", { name: "Use light colours" })).toBeTruthy();
  });
});

it("the token can be typed at once", () => {
  show(<TokenAsked />);
  expect(document.activeElement).toBe(screen.getByLabelText("Token"));
});

function Asking(): ReactNode {
  const [isAsked, setAsked] = useState(true);
  return (
    <Dialog title="Retry: 3 runs" onClose={() => undefined}>
      {isAsked ? <button onClick={() => setAsked(false)}>Retry</button> : <p>Finished</p>}
    </Dialog>
  );
}

it("a dialog keeps the focus when the button that had it goes away", async () => {
  render(<Asking />);
  const button = screen.getByText("Retry");
  button.focus();
  fireEvent.click(button);
  const heading = screen.getByText("Retry: 3 runs");
  await waitFor(() => expect(document.activeElement).toBe(heading));
});

it("rows of another height stand below each other", () => {
  const table = (rowHeight: number): ReactNode => (
    <Grid
      label="Rows"
      columns={[{ id: "name", name: "Name", width: "1fr", cell: (row: string) => row }]}
      rows={["one", "two", "three"]}
      rowKey={(row) => row}
      rowHeight={rowHeight}
      height="400px"
    />
  );
  const { rerender } = render(table(38));
  const third = (): HTMLElement | null => screen.getByText("three").closest(".grid-row");
  expect(third()?.style.transform).toBe("translateY(76px)");
  rerender(table(84));
  expect(third()?.style.transform).toBe("translateY(168px)");
});
