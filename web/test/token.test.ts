// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";

import { takeToken, token } from "../src/api/token";

const ORIGIN = "http://127.0.0.1:8700";

/** What is left in the address bar after an arrival at this address; null when it was not touched. */
function left(address: string): string | null {
  const place = new URL(address, ORIGIN) as unknown as Location;
  const replaceState = vi.fn();
  const was = takeToken(place, { replaceState } as unknown as History);
  expect(was).toBe(replaceState.mock.calls.length === 1);
  return was ? (replaceState.mock.calls[0]?.[2] as string) : null;
}

beforeEach(() => sessionStorage.clear());

describe("a token in the address", () => {
  it.each([
    ["/#token=0123456789abcdef", "0123456789abcdef", "/"],
    ["/runs/7?tab=events#token=0123456789abcdef", "0123456789abcdef", "/runs/7?tab=events"],
    ["/#tab=x&token=0123456789abcdef&more=1", "0123456789abcdef", "/"],
    ["/#token=tide+and%2Fodd%26signs%3D%2541", "tide+and/odd&signs=%41", "/"],
    ["/#token=one-of-them&token=another", "one-of-them", "/"],
  ])("is kept for this tab, and gone from %s", (address, kept, rest) => {
    expect(left(address)).toBe(ORIGIN + rest);
    expect(token()).toBe(kept);
    expect(localStorage.length).toBe(0);
  });

  it("is gone from an address whose path looks like another host", () => {
    expect(left(`${ORIGIN}//evil.example/x#token=0123456789abcdef`)).toBe(
      `${ORIGIN}//evil.example/x`,
    );
  });

  it.each(["/#token=", "/#token=a%0d%0aX-Evil:1", "/#token=a%20b", "/#token=%C3%BC", "/#token"])(
    "that no header can carry is taken away and not kept: %s",
    (address) => {
      expect(left(address)).toBe(`${ORIGIN}/`);
      expect(token()).toBeNull();
    },
  );

  it("that is empty does not replace the one this tab has", () => {
    left("/#token=0123456789abcdef");
    left("/#token=");
    expect(token()).toBe("0123456789abcdef");
  });

  it("is out of the address before it is kept", () => {
    const place = new URL("/#token=0123456789abcdef", ORIGIN) as unknown as Location;
    const replaceState = (): void => expect(token()).toBeNull();
    takeToken(place, { replaceState } as unknown as History);
    expect(token()).toBe("0123456789abcdef");
  });

  it.each(["/", "/#main", "/?token=0123456789abcdef", "/#tokens=x", "/#/token=x"])(
    "is in no other part of it: %s",
    (address) => {
      expect(left(address)).toBeNull();
      expect(token()).toBeNull();
    },
  );
});
