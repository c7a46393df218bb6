import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// A busy machine is not a failure.
configure({ asyncUtilTimeout: 20_000 });
afterEach(cleanup);

// What jsdom lacks of a browser; a newer one answers with a promise, which no effect may return.
Element.prototype.scrollIntoView ??= () => Promise.resolve();
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};
