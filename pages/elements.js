// The page's script. Every text from a record goes through shown(), which makes text nodes; nothing becomes markup.
"use strict";
const $ = (selector) => document.querySelector(selector);

// First of all: what fails after this, the reading of the index included, is told.
function tellFault(text) {
  $("#fault").hidden = false;
  $("#fault").textContent = `The page failed: ${text}`;
}
addEventListener("error", (event) => tellFault(event.message));
addEventListener("unhandledrejection", (event) => tellFault(String(event.reason)));

const DATA = JSON.parse($("#index").textContent);
const ROW = ["group", "id", "scenario", "hash", "outcome", "kept", "verified", "steps", "tokens", "chars", "axes", "reasons"];
const ROWS = DATA.rows.map((row, number) => Object.fromEntries([["number", number], ...ROW.map((name, at) => [name, row[at]])]));
const VOIDED = new Set(DATA.voided);
const BY_SCENARIO = new Map(); // by id and content: two scenarios may have one id
const keyOf = (row) => JSON.stringify([row.scenario, row.hash]);
for (const row of ROWS) {
  if (!BY_SCENARIO.has(keyOf(row))) BY_SCENARIO.set(keyOf(row), []);
  BY_SCENARIO.get(keyOf(row)).push(row);
}
const CUT = 4000; // characters of an output that are shown at first
const PIECE = 20000; // characters that are laid out at once after that
const NARROW = matchMedia("(max-width: 700px)");
const range = DATA.hidden.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("");
const HIDDEN = new RegExp(`([${range}]+)`, "u");

// ---- elements

function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function svg(tag, properties = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function nameOf(character) {
  const code = character.codePointAt(0);
  return `«${DATA.names[code] || (code === 0x7f ? "DEL" : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`)}»`;
}

// Text as nodes: what a terminal or browser would obey or hide is named instead.
function shown(text) {
  const nodes = document.createDocumentFragment();
  String(text).split(HIDDEN).forEach((part, at) => {
    if (at % 2) nodes.append(el("span", { class: "ctl" }, [...part].map(nameOf).join("")));
    else if (part) nodes.append(part);
  });
  return nodes;
}

function pieces(text, from, size) {
  const found = [];
  for (let at = from; at < text.length; ) {
    let end = Math.min(text.length, at + size);
    const line = end < text.length ? text.lastIndexOf("\n", end - 1) : -1;
    if (line > at + size / 2) end = line + 1;
    else if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end += 1;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

// A pre with the text; a long one is cut, and laid out piece by piece when somebody asks for all of it.
function output(text, name = "") {
  const box = el("pre", { class: name, dir: "ltr" });
  if (text.length <= CUT + 400) {
    box.append(shown(text));
    return box;
  }
  const [head] = pieces(text, 0, CUT);
  box.append(shown(head));
  const more = el("button", { class: "more", type: "button" }, `show all ${text.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => {
    more.remove();
    const rest = pieces(text, head.length, PIECE);
    const add = () => {
      if (!rest.length || !box.isConnected) return;
      box.append(el("div", { class: "piece" }, shown(rest.shift())));
      setTimeout(add, 0);
    };
    add();
  });
  const wrap = el("div", {}, box, more);
  return wrap;
}

function table(head, lines, numeric = false) {
  const cell = (tag) => (value, at) => el(tag, { class: at ? (numeric ? "num" : "") : "label" }, value instanceof Node || value === null ? value : shown(value));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map(cell("th")))),
    el("tbody", {}, lines.map((line) => el("tr", {}, line.map(cell("td"))))),
  ));
}

// ---- links: the hash holds what is shown

function link(fields) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== "" && value !== undefined && value !== null) query.set(name, value);
  return "#" + query;
}
const here = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const go = (fields) => { location.hash = link(fields); };
const replace = (fields) => location.replace(link(fields));
const linkTo = (row, step) => link({ view: "session", run: DATA.groups[row.group].label, id: row.id, step });
const compared = (row) => ({ view: "compare", scenario: row.scenario, hash: row.hash });

// ---- blocks: a session is unpacked when it is opened

const unpacked = new Map();
async function unpack(name) {
  if (!unpacked.has(name)) {
    const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    unpacked.set(name, JSON.parse(await new Response(stream).text()));
    if (unpacked.size > 60) unpacked.delete(unpacked.keys().next().value);
  }
  return unpacked.get(name);
}
