// The search of the site: which sections have all the words that were typed. Runs from a disk as well.
"use strict";

const SHOWN_MAX = 25;
const top_ = document.body.dataset.top;
const field = document.getElementById("search");
const found = document.getElementById("found");
let index = null;

/** The sections, loaded when someone is about to search. */
function loaded() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${top_}search-index.js`;
    script.onload = () => resolve(globalThis.anewSections);
    script.onerror = () => reject(new Error("the index of the search is missing"));
    document.head.append(script);
  });
  return index;
}

/** How well a section fits: by its title most, then by its heading; 0 when a word is missing. */
function fit([title, heading, , words], asked) {
  let sum = 0;
  for (const word of asked) {
    const inTitle = title.toLowerCase().includes(word);
    const inHeading = heading.toLowerCase().includes(word);
    if (!inTitle && !inHeading && !words.includes(word)) return 0;
    const isWhole = ` ${words} `.includes(` ${word} `);
    sum += (inHeading ? 8 : 0) + (inTitle ? (heading ? 3 : 10) : 0) + (isWhole ? 2 : 1);
  }
  return sum;
}

function item([title, heading, address]) {
  const link = document.createElement("a");
  link.href = top_ + address;
  link.textContent = heading ? `${title}: ${heading}` : title;
  const row = document.createElement("li");
  row.append(link);
  return row;
}

async function search() {
  const typed = field.value;
  const asked = typed.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = asked.length === 0;
  if (found.hidden) return;
  const rows = (await loaded())
    .map((row) => [fit(row, asked), row])
    .filter(([points]) => points > 0)
    .sort(([one], [other]) => other - one);
  if (field.value !== typed) return;
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const more = rows.length > SHOWN_MAX ? `, the best ${SHOWN_MAX} are shown` : "";
  said.textContent = rows.length ? `${rows.length} found${more}` : "Nothing has all these words.";
  const list = document.createElement("ul");
  list.append(...rows.slice(0, SHOWN_MAX).map(([, row]) => item(row)));
  found.replaceChildren(said, ...(rows.length ? [list] : []));
}

field.addEventListener("focus", () => void loaded().catch(() => {}));
field.addEventListener("input", () => void search());
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape" && !found.hidden) {
    field.value = "";
    found.hidden = true;
    field.focus();
  }
});
