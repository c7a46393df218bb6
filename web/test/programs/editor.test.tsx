import { fireEvent, render, screen } from "@testing-library/react";
import { useState, type ReactNode } from "react";
import { expect, test } from "vitest";

import type { DocumentFinding } from "../../src/api/types";
import { DocumentEditor } from "../../src/pages/programs/editor/DocumentEditor";

const WRONG: DocumentFinding = {
  severity: "error",
  rule: "tool.kind",
  message: "tool kind 'htp' is unknown",
  file: "x.yaml",
  line: 2,
  column: 4,
  suggestion: "Did you mean 'http'?",
};

function Editing({ findings = [] }: { findings?: DocumentFinding[] }): ReactNode {
  const [text, setText] = useState("one\ntwo words\nthree");
  return (
    <DocumentEditor
      label="Document"
      text={text}
      findings={findings}
      isBehind={false}
      onChange={setText}
    />
  );
}

function area(): HTMLTextAreaElement {
  const found = screen.getByLabelText("Document");
  if (!(found instanceof HTMLTextAreaElement)) throw new Error("no text area");
  return found;
}

test("Tab indents where the cursor is", () => {
  render(<Editing />);
  area().setSelectionRange(4, 4);
  const isLeft = fireEvent.keyDown(area(), { key: "Tab" });
  expect(isLeft).toBe(false);
  expect(area().value).toBe("one\n  two words\nthree");
});

test("after Escape Tab leaves the text, and Shift and Tab always do", () => {
  render(<Editing />);
  expect(fireEvent.keyDown(area(), { key: "Tab", shiftKey: true })).toBe(true);
  fireEvent.keyDown(area(), { key: "Escape" });
  expect(fireEvent.keyDown(area(), { key: "Tab" })).toBe(true);
  expect(area().value).toBe("one\ntwo words\nthree");
});

test("whoever continues typing after Escape indents again", () => {
  render(<Editing />);
  fireEvent.keyDown(area(), { key: "Escape" });
  fireEvent.keyDown(area(), { key: "a" });
  expect(fireEvent.keyDown(area(), { key: "Tab" })).toBe(false);
});

test("a finding leads to its place", () => {
  render(<Editing findings={[WRONG]} />);
  screen.getByText("1 error");
  fireEvent.click(screen.getByRole("button", { name: "line 2" }));
  expect(document.activeElement).toBe(area());
  expect([area().selectionStart, area().selectionEnd]).toEqual([7, 13]);
  expect(area().getAttribute("aria-invalid")).toBe("true");
});
