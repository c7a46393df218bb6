import { describe, expect, it } from "vitest";

import { Blocks } from "../src/api/stream";

describe("a stream of server-sent events", () => {
  it("is cut into the same messages however it arrives", () => {
    const text = ': anew\n\nid: 7\ndata: {"a":1}\n\nid: 8\ndata: {"b":"é\\n"}\n\n';
    const expected = [
      { id: "7", data: '{"a":1}' },
      { id: "8", data: '{"b":"é\\n"}' },
    ];
    for (let size = 1; size <= text.length; size++) {
      const blocks = new Blocks();
      const heard = [];
      for (let at = 0; at < text.length; at += size) {
        heard.push(...blocks.feed(text.slice(at, at + size)));
      }
      expect(heard).toEqual(expected);
    }
  });

  it("keeps the start of a message until the rest is there", () => {
    const blocks = new Blocks();
    expect(blocks.feed("id: 1\ndata: {")).toEqual([]);
    expect(blocks.feed("}\n\n")).toEqual([{ id: "1", data: "{}" }]);
  });
});
