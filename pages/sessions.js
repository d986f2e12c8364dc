// The list of sessions, one session, several side by side; links and keys.

// ---- the list

let listed = []; // the rows that the filters leave
let picked = 0;
let listHash = "view=list";

function changeOf(row, at) {
  if (at.from === undefined || at.from === "") return null;
  const before = BY_SCENARIO.get(keyOf(row)).find((one) => one.group === Number(at.from) && one.id === row.id);
  if (!before || before.number === row.number) return null;
  if (before.kept === row.kept && before.outcome === row.outcome) return null;
  return { how: before.kept === row.kept ? "other" : row.kept ? "gained" : "lost", before };
}

function passes(row, at, words) {
  if (at.group && row.group !== Number(at.group)) return false;
  if (at.outcome && row.outcome !== at.outcome) return false;
  if (at.kept && row.kept !== Number(at.kept)) return false;
  if (at.reason && !row.reasons.some((reason) => kindOfReason(reason) === at.reason)) return false;
  if (DATA.axes.some((axis, n) => at[axis] && row.axes[n] !== at[axis])) return false;
  if (at.from) {
    const change = changeOf(row, at);
    if (!change || (at.how && at.how !== change.how)) return false;
  }
  const text = words.length ? [row.id, row.outcome, DATA.groups[row.group].label, ...row.axes, ...row.reasons].join(" ").toLowerCase() : "";
  return words.every((word) => text.includes(word));
}

function filterRows(at) {
  const words = (at.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  return ROWS.filter((row) => passes(row, at, words));
}

function buildFilters(at) {
  const change = (name) => (event) => replace({ ...here(), view: "list", [name]: event.target.value });
  const choice = (name, title, options) => el("label", {}, title, el("select", { name, onchange: change(name) },
    el("option", { value: "" }, "any"), options.map(([value, text]) => el("option", { value, selected: at[name] === String(value) }, shown(text)))));
  const same = (values) => [...new Set(values)].sort().map((value) => [value, value]);
  const groups = DATA.groups.map((group, n) => [n, group.label]);
  const search = el("input", { type: "search", id: "search", name: "q", value: at.q || "", size: 14, oninput: change("q") });
  const wasOpen = $("#filters details") ? $("#filters details").open : !NARROW.matches;
  const choices = [
    choice("group", "run", groups),
    choice("outcome", "outcome", same(ROWS.map((row) => row.outcome))),
    choice("kept", "kept", [[1, "kept"], [0, "not kept"]]),
    choice("reason", "reason", same(ROWS.flatMap((row) => row.reasons.map(kindOfReason)))),
    ...DATA.axes.map((axis, n) => choice(axis, axis === "task" ? "archetype" : axis, same(ROWS.map((row) => row.axes[n])))),
  ];
  if (groups.length > 1) {
    choices.push(choice("from", "changed since run", groups));
    choices.push(choice("how", "changed to", [["gained", "kept"], ["lost", "not kept"], ["other", "another outcome"]]));
  }
  choices.push(el("button", { type: "button", id: "clear", onclick: () => replace({ view: "list" }) }, "clear"));
  $("#filters").replaceChildren(el("label", {}, "search (/)", search),
    el("details", { open: wasOpen }, el("summary", {}, "filters"), el("div", { class: "choices" }, choices)));
}

let filtersFor = null;
function showList(at) {
  const typing = document.activeElement && document.activeElement.id === "search";
  const key = JSON.stringify({ ...at, q: "" });
  if (!typing || filtersFor !== key) buildFilters(at);
  filtersFor = key;
  const before = listed[picked];
  listed = filterRows(at);
  picked = Math.max(0, listed.indexOf(before));
  $("#count").textContent = `${listed.length.toLocaleString("en")} of ${ROWS.length.toLocaleString("en")} sessions`;
  drawRows(true);
}

const rowHeight = () => (NARROW.matches ? 58 : 34);

// Only the rows in sight are elements.
function drawRows(reveal = false) {
  const box = $("#rows");
  const height = rowHeight();
  $("#space").style.height = `${listed.length * height}px`;
  if (reveal) {
    if (picked * height < box.scrollTop) box.scrollTop = picked * height;
    if ((picked + 1) * height > box.scrollTop + box.clientHeight) box.scrollTop = (picked + 1) * height - box.clientHeight;
  }
  const first = Math.max(0, Math.floor(box.scrollTop / height) - 5);
  const last = Math.min(listed.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + 5);
  const at = here();
  const made = [];
  for (let n = first; n < last; n += 1) made.push(rowElement(listed[n], n, height, at));
  $("#space").replaceChildren(...made);
}

function mark(row) {
  if (VOIDED.has(row.outcome)) return ["∅", "warn", "voided"];
  return row.kept ? ["✓", "good", "kept"] : ["✗", "bad", "not kept"];
}

function rowElement(row, n, height, at) {
  const [sign, colour, said] = mark(row);
  const change = changeOf(row, at);
  const made = el("a", { class: `row${n === picked ? " picked" : ""}`, href: linkTo(row), role: "option", "aria-selected": String(n === picked) },
    el("span", { class: colour, title: said }, sign),
    el("span", { class: "id" }, shown(row.id)),
    el("span", { class: "group dim" }, shown(DATA.groups[row.group].label)),
    el("span", { class: "outcome" }, change ? `${change.before.outcome} → ${row.outcome}` : row.outcome),
    el("span", { class: "steps dim" }, `${row.steps} steps`),
    el("span", { class: "why dim" }, shown(row.reasons.join("; "))),
  );
  made.style.transform = `translateY(${n * height}px)`;
  return made;
}

function pick(n) {
  picked = Math.max(0, Math.min(listed.length - 1, n));
  drawRows(true);
}

// ---- a session

let shownRow = null;
let showing = 0; // the latest request to show one: an earlier one that is unpacked later is dropped

async function showSession(at) {
  const group = DATA.groups.findIndex((one) => one.label === at.run);
  const row = ROWS.find((one) => one.id === at.id && one.group === group);
  const box = $("#session");
  const request = (showing += 1);
  if (!row) {
    shownRow = null;
    box.replaceChildren(el("p", {}, "No session ", shown(at.id || ""), " of ", shown(at.run || ""), " is on this page."));
    return;
  }
  if (shownRow === row && box.querySelector(".terminal")) {
    pickStep(at.step);
    return;
  }
  const made = await sessionElement(row);
  if (request !== showing) return;
  shownRow = row;
  box.replaceChildren(made);
  if (!at.step) scrollTo(0, 0);
  pickStep(at.step);
}

// The sessions of one scenario, and one row for each other scenario of the same id. A link without a hash, as older
// pages made them, means the first that has the id.
function rowsToCompare(at) {
  const same = [...BY_SCENARIO.values()].filter((rows) => rows[0].scenario === at.scenario);
  const chosen = same.find((rows) => rows[0].hash === at.hash) || same.find((rows) => rows[0].hash.startsWith(at.hash || ""));
  const rows = [...(chosen || [])].sort((a, b) => (a.id === b.id ? a.group - b.group : a.id < b.id ? -1 : 1));
  return [rows, same.filter((one) => one !== chosen).map((one) => one[0])];
}

async function showCompare(at) {
  const box = $("#session");
  const [rows, others] = rowsToCompare(at);
  const request = (showing += 1);
  if (!rows.length) {
    shownRow = null;
    box.replaceChildren(el("p", {}, "No session of scenario ", shown(at.scenario || ""), at.hash && " with content hash ", at.hash && shown(at.hash), " is on this page."));
    return;
  }
  const columns = box.querySelector(".columns");
  if (columns && columns.dataset.of === keyOf(rows[0])) {
    shownRow = rows[0];
    pickStep(at.step);
    return;
  }
  const made = await Promise.all(rows.slice(0, 8).map((row) => sessionElement(row, false)));
  if (request !== showing) return;
  shownRow = rows[0];
  const note = rows.length > 8 ? ` The first 8 of ${rows.length} are shown.` : "";
  box.replaceChildren(el("div", {},
    el("h2", {}, "Side by side: ", shown(at.scenario)),
    el("p", { class: "dim" }, "Every session of this scenario (content ", shown(rows[0].hash.slice(0, 12)), `).${note}`),
    others.length > 0 && el("p", { class: "warn" }, "Another scenario has this id: ", others.map((row) => [el("a", { href: link(compared(row)) }, shown(row.hash.slice(0, 12))), " "]).flat()),
    el("div", { class: "columns", "data-of": keyOf(rows[0]) }, made),
  ));
  if (!at.step) scrollTo(0, 0);
  pickStep(at.step);
}

async function sessionElement(row, alone = true) {
  const session = await unpack(`t${row.number}`);
  const known = DATA.scenarios[row.hash];
  const scenario = known === undefined ? null : await unpack(`s${known}`);
  const [sign, colour, said] = mark(row);
  const operator = session.operator;
  const group = DATA.groups[row.group].label;
  const told = [operator.kind, operator.model, operator.adapter_hash && `adapter ${operator.adapter_hash.slice(0, 12)}`, ...Object.entries(operator.sampling || {}).map(([name, value]) => `${name} ${JSON.stringify(value)}`), session.seed && `seed ${session.seed}`].filter(Boolean);
  const others = alone && BY_SCENARIO.get(keyOf(row)).length > 1;
  return el("section", {},
    el("div", { class: "session-head" },
      el("h2", {}, el("a", { href: linkTo(row) }, shown(alone ? row.id : `${group} · ${row.id}`))),
      el("span", { class: `badge ${colour}` }, `${sign} ${said}`),
      el("span", { class: "badge" }, row.outcome),
      verdict(session),
      others && el("a", { class: "compare", href: link(compared(row)) }, "side by side (c)"),
    ),
    el("p", { class: "facts" }, alone && [shown(group), " · "], shown(row.axes.join(" · ")), " · ", shown(told.join(", "))),
    session.reasons.length > 0 && el("p", { class: "bad" }, "not kept: ", shown(session.reasons.join("; "))),
    session.error && el("p", { class: "warn" }, "error: ", shown(session.error)),
    scenario && scenarioElement(scenario),
    terminalElement(row, session),
    session.changes && changesElement(session.changes),
  );
}

function verdict(session) {
  if (session.outcome === "checker_failed") return el("span", { class: "badge warn" }, "checker failed");
  if (VOIDED.has(session.outcome)) return el("span", { class: "badge warn" }, "not checked");
  return session.verified ? el("span", { class: "badge good" }, "checker passed") : el("span", { class: "badge bad" }, "checker did not pass");
}

function scenarioElement(scenario) {
  const part = (title, text) => [el("h3", {}, title), output(text)];
  return el("details", { class: "scenario" }, el("summary", {}, `the scenario: ${scenario.directives.length === 1 ? "1 directive" : `${scenario.directives.length} directives`}, ${scenario.terminal} is right`),
    ...part("announcement", `${scenario.announcement.channel}${scenario.announcement.place ? " " + scenario.announcement.place : ""}: ${scenario.announcement.text}`),
    ...part("directives", scenario.directives.map((text, n) => `${n + 1}. ${text}`).join("\n")),
    ...part("reference solution", scenario.solution.join("\n")),
    ...part("checker", scenario.checker),
    el("details", {}, el("summary", {}, "provider"), ...part(scenario.provider.path, scenario.provider.source)),
    el("details", {}, el("summary", {}, `${scenario.fixtures.length} fixtures`), scenario.fixtures.flatMap(([path, type, mode, text]) => [el("h3", {}, shown(`${path} (${type}, ${mode})`)), output(text)])),
  );
}

function terminalElement(row, session) {
  const box = el("div", { class: "terminal" });
  session.opening.forEach(([role, text]) => box.append(role === "system"
    ? el("details", {}, el("summary", {}, "orientation"), output(text)) : output(text, "login")));
  session.steps.forEach((step, n) => box.append(stepElement(row, n + 1, commandElement(step.command, session.tokens && session.tokens[n]), step)));
  session.last.forEach((text, n) => {
    const number = session.steps.length + n;
    box.append(stepElement(row, number + 1, commandElement(text, session.tokens && session.tokens[number]), null));
  });
  if (session.replies) box.append(el("details", { class: "replies" }, el("summary", {}, `what the model sampled: ${session.replies.length} replies`),
    session.replies.map((tokens) => commandElement(tokens.map(([piece]) => piece).join(""), tokens))));
  if (session.tokens || session.replies) box.append(el("p", { class: "dim" }, "shade: the less likely a token was to the model, the stronger its colour"));
  return box;
}

function stepElement(row, number, command, step) {
  const facts = [el("a", { href: linkTo(row, number) }, `step ${number}`)];
  if (step) {
    facts.push(el("span", { class: step.exit_code ? "bad exit" : "exit" }, `exit ${step.exit_code ?? "not told"}`));
    if (step.cwd) facts.push(el("span", {}, `${step.duration_seconds === null ? "?" : step.duration_seconds.toFixed(2)} s`)); // an agent program's steps are not measured
    for (const flag of ["timed_out", "oom", "open_heredoc", "state_stale"]) if (step[flag]) facts.push(el("span", { class: "warn flag" }, flag));
    if (step.cwd) facts.push(el("span", {}, shown(step.cwd)));
    const cut = step.output_bytes - new TextEncoder().encode(step.output).length;
    if (cut > 0) facts.push(el("span", {}, `${step.output_bytes.toLocaleString("en")} bytes printed, the middle was not shown`));
  } else facts.push(el("span", {}, row.outcome === "exit" || row.outcome === "panic" ? "ends the session" : "did not run"));
  return el("div", { class: "step", "data-step": number }, command, step && step.output ? output(step.output) : null, el("div", { class: "step-facts" }, facts));
}

const MOST_SHADE = 50; // per cent of colour behind a token; with more the text is hard to read on dark

// A command; where log-probs are recorded, each token shaded by how unlikely it was.
function commandElement(text, tokens) {
  if (!tokens) return output(text, "command");
  const box = el("pre", { class: "command", dir: "ltr" });
  let length = 0;
  for (const [piece, logProb] of tokens) {
    const title = logProb === null ? "no log-prob" : `log-prob ${logProb.toFixed(3)}, p ${Math.exp(logProb).toFixed(3)}`;
    const shade = logProb === null ? 0 : Math.round(MOST_SHADE * (1 - Math.exp(logProb)));
    box.append(el("span", { class: length < text.length ? "tok" : "tok end-marker", title, "--p": shade }, shown(piece)));
    length += piece.length;
  }
  return box;
}

function changesElement(changes) {
  const line = (one) => typeof one === "string" ? one : [one.path, one.type, typeof one.mode === "number" && one.mode.toString(8), typeof one.size_bytes === "number" && `${one.size_bytes} bytes`, one.target && `-> ${one.target}`].filter(Boolean).join("  ");
  const parts = Object.entries(changes).filter(([, value]) => Array.isArray(value) && value.length);
  if (!parts.length && !changes.more) return null;
  return el("div", { class: "changes" }, el("h3", {}, "Files"), parts.flatMap(([name, value]) => [el("p", { class: "dim" }, shown(name)), output(value.map(line).join("\n"))]),
    changes.more ? el("p", { class: "dim" }, `and ${changes.more} more`) : null);
}

// Side by side, the step of this number in every column.
function pickStep(step) {
  for (const one of document.querySelectorAll("#session .step.picked")) one.classList.remove("picked");
  const found = step ? [...document.querySelectorAll(`#session .step[data-step="${Number(step)}"]`)] : [];
  for (const one of found) one.classList.add("picked");
  const columns = document.querySelector("#session .columns");
  const left = columns ? columns.scrollLeft : 0;
  for (const one of found.reverse()) one.scrollIntoView({ block: "nearest" }); // the first column last: it is in sight
  if (columns) columns.scrollLeft = left;
}

// ---- what the hash says is shown

function route() {
  const at = here();
  const view = ["list", "session", "compare"].includes(at.view) ? at.view : "overview";
  const name = view === "compare" ? "session" : view;
  for (const one of ["overview", "list", "session"]) $(`#${one}`).hidden = one !== name;
  document.querySelectorAll("header nav a").forEach((one) => one.classList.toggle("here", one.getAttribute("href") === `#view=${name}` || (name === "session" && one.getAttribute("href") === "#view=list")));
  if (view !== "session") shownRow = null;
  if (view === "list") listHash = location.hash.slice(1);
  if (view === "overview") showOverview(at);
  if (view === "list") showList(at);
  if (view === "session") showSession(at);
  if (view === "compare") showCompare(at);
}

// ---- keys

function move(by) {
  const position = listed.indexOf(shownRow);
  const rows = position < 0 ? ROWS : listed;
  const next = rows[(position < 0 ? ROWS.indexOf(shownRow) : position) + by];
  if (!next) return;
  if (position >= 0) picked = position + by;
  location.hash = linkTo(next);
}

function moveStep(by) {
  const steps = Math.max(0, ...[...document.querySelectorAll("#session .step")].map((one) => Number(one.dataset.step)));
  const next = Math.max(1, Math.min(steps, Number(here().step || 0) + by));
  if (steps) replace({ ...here(), step: next });
}

const KEYS = {
  "?": () => $("#help").showModal(),
  t: () => turnTheme(),
  o: () => go({ view: "overview" }),
  l: () => { location.hash = listHash; },
  "/": () => {
    if ($("#list").hidden) location.hash = listHash;
    setTimeout(() => $("#search").focus(), 0);
  },
};
const LIST_KEYS = {
  j: () => pick(picked + 1),
  k: () => pick(picked - 1),
  Enter: () => { if (listed[picked]) location.hash = linkTo(listed[picked]); },
  Escape: () => replace({ view: "list" }),
};
const SESSION_KEYS = {
  j: () => moveStep(1),
  k: () => moveStep(-1),
  n: () => move(1),
  p: () => move(-1),
  c: () => { if (shownRow) go(compared(shownRow)); },
  Escape: () => { location.hash = listHash; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("#help").open) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (typing) {
    if (event.key === "Escape" || (event.key === "Enter" && event.target.id === "search")) {
      event.target.blur();
      event.preventDefault();
    }
    return;
  }
  if (event.key === "Enter" && /^(A|BUTTON|SUMMARY)$/.test(event.target.tagName)) return;
  const keys = { ...KEYS, ...($("#list").hidden ? {} : LIST_KEYS), ...($("#session").hidden ? {} : SESSION_KEYS) };
  if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key]();
  }
});

function turnTheme() {
  const dark = (document.documentElement.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.documentElement.style.colorScheme = dark ? "light" : "dark";
}

addEventListener("hashchange", route);
addEventListener("resize", () => { if (!$("#list").hidden) drawRows(); });
NARROW.addEventListener("change", () => { if ($("#filters details")) $("#filters details").open = !NARROW.matches; });
$("#rows").addEventListener("scroll", () => drawRows());
$("#filters").addEventListener("submit", (event) => event.preventDefault());
$("#theme").addEventListener("click", turnTheme);
$("#help-open").addEventListener("click", KEYS["?"]);
route();
document.documentElement.dataset.ready = "yes";
