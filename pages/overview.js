// The overview: tables of rates, charts, and what is known of the scenarios.

// ---- charts

function rateCell(rate, colour, signed = false) {
  if (!rate) return "-";
  const [text, value, low, high] = rate;
  const [width, height] = [96, 10];
  const x = (share) => (signed ? (share + 1) / 2 : share) * width;
  return el("div", { class: "rate" }, shown(text), svg("svg", { width, height, role: "img", "aria-label": text },
    svg("rect", { x: 0, y: 4, width, height: 2, class: "bar-back" }),
    ...(signed ? [svg("line", { x1: width / 2, x2: width / 2, y1: 0, y2: height, class: "axis" })] : []),
    svg("line", { x1: x(low), x2: x(high), y1: 5, y2: 5, class: "interval" }),
    svg("circle", { cx: x(value), cy: 5, r: 3.5, class: `mark c${colour % 6}` }),
  ));
}

const rateRow = (names, rates, colour, signed) => names.map((name) => rateCell(rates[name], colour, signed));

function curveChart(name, curves) {
  const [width, height, left, bottom] = [440, 200, 52, 22];
  const points = curves.flatMap((curve) => curve.points);
  const [x0, x1] = [Math.min(...points.map((p) => p[0])), Math.max(...points.map((p) => p[0]))];
  let [y0, y1] = [Math.min(...points.map((p) => p[1])), Math.max(...points.map((p) => p[1]))];
  if (y0 === y1) [y0, y1] = [y0 - 1, y1 + 1];
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - 8);
  const y = (value) => 8 + (1 - (value - y0) / (y1 - y0)) * (height - bottom - 8);
  const figure = (value) => {
    const text = Number(value.toPrecision(3)).toString();
    return text.length > 7 ? value.toExponential(1) : text;  // what the left margin holds
  };
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${name} by step` });
  for (const value of [y0, (y0 + y1) / 2, y1]) {
    drawn.append(svg("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: "axis" }));
    drawn.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, figure(value)));
  }
  for (const value of [x0, x1]) drawn.append(svg("text", { x: x(value), y: height - 4, "text-anchor": value === x0 ? "start" : "end" }, `step ${value}`));
  curves.forEach((curve) => {
    const path = curve.points.map(([step, value], at) => `${at ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    drawn.append(svg("path", { d: path, class: `curve c${curve.colour % 6}` }));
    if (curve.points.length === 1) drawn.append(svg("circle", { cx: x(curve.points[0][0]), cy: y(curve.points[0][1]), r: 3, class: `mark c${curve.colour % 6}` }));
  });
  const most = Math.max(...curves.map((curve) => curve.steps_per_point));
  const lost = curves.reduce((sum, curve) => sum + curve.not_finite, 0);
  const notes = [most > 1 && `, means over ${most} steps`, lost > 0 && `, NaN or infinite in ${lost} steps, left out`];
  return el("div", { class: "chart" }, el("h3", {}, shown(name), notes.map((note) => note && el("span", { class: "dim" }, note))), drawn);
}

function histogram(title, values, colour) {
  const [width, height, bottom] = [300, 120, 18];
  const most = Math.max(...values, 1);
  const step = [1, 2, 5].flatMap((digit) => [...Array(7)].map((_, power) => digit * 10 ** power)).sort((a, b) => a - b).find((size) => most / size <= 20);
  const counts = Array(Math.floor(most / step) + 1).fill(0);
  for (const value of values) counts[Math.floor(value / step)] += 1;
  const top = Math.max(...counts);
  const bar = width / counts.length;
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${title}: histogram` });
  counts.forEach((count, at) => {
    const tall = (count / top) * (height - bottom - 12);
    const said = step === 1 ? `${at}: ${count}` : `${at * step} to ${(at + 1) * step - 1}: ${count}`;
    drawn.append(svg("rect", { x: at * bar + 1, y: height - bottom - tall, width: Math.max(1, bar - 2), height: tall, class: `fill c${colour % 6}` }, svg("title", {}, said)));
  });
  drawn.append(svg("line", { x1: 0, x2: width, y1: height - bottom, y2: height - bottom, class: "axis" }));
  drawn.append(svg("text", { x: 0, y: height - 4 }, "0"), svg("text", { x: width, y: height - 4, "text-anchor": "end" }, most.toLocaleString("en")));
  drawn.append(svg("text", { x: 0, y: 9 }, `most in one bar: ${top}`));
  return el("div", { class: "chart" }, el("h3", {}, shown(title)), drawn);
}

// ---- overview

const counted = (value) => typeof value !== "number" ? String(value)
  : Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
const kindOfReason = (reason) => reason.split(":")[0];

function showOverview(at) {
  const groups = DATA.groups;
  const label = (group, number) => el("span", { class: `c${number % 6}` }, el("span", { class: "swatch" }), " ", shown(group.label));
  const parts = [el("h2", {}, "Runs"), ...DATA.runs.map((run) => el("details", {},
    el("summary", {}, el("b", {}, shown(run.label)), ` (${run.kind}) `, shown(run.notes.join("; "))),
    table(["flag", "value"], Object.entries({ ...run.flags, commit: run.commit || "unknown" }).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])),
    run.counts && table(["count", "value"], Object.entries(run.counts).map(([name, value]) => [name, counted(value)]), true),
  ))];
  if (groups.length) {
    parts.push(el("h2", {}, "Rates"), el("p", { class: "dim" }, "successes/n, rate, 95 % Wilson interval, over the episodes that were not voided"));
    parts.push(table(["", ...DATA.rates, "voided"], groups.map((group, n) => [label(group, n), ...rateRow(DATA.rates, group.rates, n), String(group.voided)])));
    parts.push(table(["", ...DATA.behaviour], groups.map((group, n) => [label(group, n), ...rateRow(DATA.behaviour, group.behaviour, n)])));
  }
  if (DATA.differences.length) {
    parts.push(el("h2", {}, "Paired differences"), el("p", { class: "dim" }, "percentage points on the scenarios that both played (the first sample of each), 95 % bootstrap interval over scenarios"));
    parts.push(table(["", "n", ...DATA.rates], DATA.differences.map((row) => [row.label, String(row.n), ...rateRow(DATA.rates, row.rates, 0, true)])));
  }
  if (groups.length) {
    const outcomes = DATA.outcomes.filter((one) => groups.some((group) => group.outcomes[one]));
    parts.push(el("h2", {}, "Outcomes"), table(["", ...outcomes], groups.map((group, n) => [label(group, n), ...outcomes.map((one) =>
      group.outcomes[one] ? el("a", { href: link({ view: "list", group: n, outcome: one }) }, String(group.outcomes[one])) : "0")]), true));
    const kinds = [...new Set(ROWS.flatMap((row) => row.reasons.map(kindOfReason)))].sort();
    if (kinds.length) {
      parts.push(el("h2", {}, "Why sessions are not kept"), table(["", ...kinds], groups.map((group, n) => [label(group, n), ...kinds.map((kind) => {
        const count = ROWS.filter((row) => row.group === n && row.reasons.some((reason) => kindOfReason(reason) === kind)).length;
        return count ? el("a", { href: link({ view: "list", group: n, reason: kind }) }, String(count)) : "0";
      })]), true));
    }
  }
  if (DATA.curves.length) {
    const runs = [...new Set(DATA.curves.map((curve) => curve.run))];
    const names = [...new Set(DATA.curves.map((curve) => curve.name))];
    parts.push(el("h2", {}, "Training"), el("p", { class: "legend" }, runs.map((run, n) => el("span", { class: `c${n % 6}` }, el("span", { class: "swatch" }), " ", shown(run)))));
    parts.push(el("div", { class: "charts" }, names.map((name) => curveChart(name, DATA.curves.filter((curve) => curve.name === name).map((curve) => ({ ...curve, colour: runs.indexOf(curve.run) }))))));
  }
  const played = groups.map((group, n) => [group, n, ROWS.filter((row) => row.group === n)]).filter(([, , rows]) => rows.length);
  if (played.length) {
    parts.push(el("h2", {}, "Steps and length of the sessions"), el("div", { class: "charts" }, played.flatMap(([group, n, rows]) => {
      const tokens = rows.every((row) => row.tokens);
      return [histogram(`steps, ${group.label}`, rows.map((row) => row.steps), n),
        histogram(`${tokens ? "tokens" : "characters"}, ${group.label}`, rows.map((row) => (tokens ? row.tokens : row.chars)), n)];
    })));
  }
  if (groups.length) {
    const axis = DATA.axes.includes(at.axis) ? at.axis : DATA.axes[0];
    const choose = el("select", { id: "axis", "aria-label": "axis", onchange: (event) => replace({ view: "overview", axis: event.target.value }) },
      DATA.axes.map((one) => el("option", { value: one, selected: one === axis }, one)));
    const values = [...new Set(groups.flatMap((group) => Object.keys(group.per_axis[axis] || {})))].sort();
    parts.push(el("h2", {}, "Rates by ", choose), table([axis, "", ...DATA.rates], values.flatMap((value) => groups.flatMap((group, n) => {
      const rates = (group.per_axis[axis] || {})[value];
      return rates ? [[el("a", { href: link({ view: "list", group: n, [axis]: value }) }, shown(value)), label(group, n), ...rateRow(DATA.rates, rates, n)]] : [];
    }))));
  }
  for (const source of DATA.sources) parts.push(...sourceParts(source));
  $("#overview").replaceChildren(...parts);
}

function sourceParts(source) {
  const parts = [el("h2", {}, "Scenarios: ", shown(source.label))];
  const tried = source.attempts === null ? "" : `, admitted of ${source.attempts} attempts`;
  parts.push(el("p", {}, `${source.scenarios} scenarios${tried}; ${source.blocked} of them are blocked`));
  const gates = Object.entries(source.yield).filter(([, found]) => found.reached);
  if (gates.length) {
    parts.push(el("h3", {}, "What the gate let through"), table(["gate", "reached", "passed", "share", "refused"],
      gates.map(([name, found]) => [name, String(found.reached), String(found.passed), `${Math.round((100 * found.passed) / found.reached)}%`, String(source.refused[name] || 0)]), true));
  }
  parts.push(el("h3", {}, "Balance"), el("p", { class: "dim" }, "1: every known value of the axis equally often; one value alone: 1 over the number of known values"));
  parts.push(table(["axis", "balance", "scenarios by value"], Object.entries(source.axes).map(([axis, counts]) => [
    axis, typeof source.balance[axis] === "number" ? source.balance[axis].toFixed(2) : "-",
    Object.entries(counts).sort((a, b) => b[1] - a[1]).map(([value, count]) => `${value} ${count}`).join(", "),
  ])));
  return parts;
}
