// The areas of the page: the word in the address and the name of each.

export const AREAS = [
  ["runs", "Runs"],
  ["failures", "Failures"],
  ["people", "People"],
  ["programs", "Programs"],
  ["workers", "Workers"],
] as const;

/** The area of a path, and what the path names in it: `["runs", "7"]`; runs are at `/` too. */
export function placeOf(path: string): [area: string, name: string] {
  const [, area = "", rest = ""] = /^\/([^/]*)(?:\/(.*))?$/.exec(path) ?? [];
  return [area || "runs", plain(rest)];
}

/** As a tab and the history of a browser show it. */
export function titleOf(path: string): string {
  const [area, name] = placeOf(path);
  const [, said] = AREAS.find(([word]) => word === area) ?? [area, "No such page"];
  if (name === "") return said;
  return area === "runs" ? `Run ${name}` : area === "programs" ? name : "No such page";
}

/** A sign that stands for none is shown as it is. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
