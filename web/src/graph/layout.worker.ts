// Lays out a large graph beside the page, which stays alive meanwhile.

import { layoutOf, type Structure } from "./layout";

self.addEventListener("message", (event: MessageEvent<Structure>) => {
  self.postMessage(layoutOf(event.data));
});
