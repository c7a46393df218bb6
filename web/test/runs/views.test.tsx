import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import { filterIn } from "../../src/pages/runs/filter";
import { isShown, viewsIn, VIEWS_MAX } from "../../src/pages/runs/views";
import { Views } from "../../src/pages/runs/Views";
import { HOSTILE } from "./fixtures";

beforeEach(() => localStorage.clear());

describe("saved views", () => {
  it.each([null, "", "{", "7", '{"name":"x"}', '[null, 3, {"name": 1, "query": ""}]'])(
    "are none where the storage has %s",
    (text) => expect(viewsIn(text)).toEqual([]),
  );

  it("are bounded", () => {
    const many = Array.from({ length: VIEWS_MAX + 9 }, (_, at) => ({ name: `${at}`, query: "" }));
    expect(viewsIn(JSON.stringify(many))).toHaveLength(VIEWS_MAX);
  });

  it("know themselves in any order of words", () => {
    const view = { name: "x", query: "state=dead&state=failed" };
    expect(isShown(view, "state=failed&state=dead")).toBe(true);
    expect(isShown(view, "state=failed")).toBe(false);
  });

  it("are saved under a name, shown as text, and removed", () => {
    render(<Views filter={filterIn(new URLSearchParams("state=parked"))} />);
    fireEvent.click(screen.getByText("Save this view"));
    fireEvent.change(screen.getByLabelText("Name of the view"), { target: { value: HOSTILE } });
    fireEvent.click(screen.getByText("Save"));
    const link = screen.getByRole("link", { name: HOSTILE });
    expect(link.getAttribute("href")).toBe("/?state=parked");
    expect(link.getAttribute("aria-current")).toBe("page");
    expect(document.querySelector("img")).toBeNull();
    expect(screen.queryByText("Save this view")).toBeNull();
    fireEvent.click(screen.getByLabelText(`Remove the view ${HOSTILE}`));
    expect(screen.queryByRole("link", { name: HOSTILE })).toBeNull();
    expect(localStorage.getItem("anew.views")).toBe("[]");
  });

  it("are there to start with", () => {
    render(<Views filter={filterIn(new URLSearchParams(""))} />);
    const names = screen.getAllByRole("link").map((link) => link.textContent);
    expect(names).toEqual(["All runs", "Needs attention", "Retrying now", "Last 24 hours"]);
    expect(screen.getByText("Needs attention").getAttribute("href")).toBe(
      "/?state=person&state=failed&state=dead",
    );
  });
});
