// What happens before anything else of the page: a token that came with the address is taken out of it.

import { takeToken } from "./api/token";

takeToken(location, history);
// An address that is pasted into a tab in which the page is open loads nothing anew by itself.
window.addEventListener("hashchange", () => {
  if (takeToken(location, history)) location.reload();
});
