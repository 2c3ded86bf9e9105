// ---- a plot as SVG: panels one above the other over one axis, a legend, a readout under the pointer, zoom by dragging ----

const store = JSON.parse(document.getElementById("report-data").textContent);
const SVG = document.getElementById("report-svg").namespaceURI;
const DASHES = ["", "2 4", "8 4 2 4"];

function element(name, attributes = {}, parent = null, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

// ---- axes: linear or logarithmic, with round numbers ----

function axisOf(low, high, log) {
  if (!(low < high)) [low, high] = log ? [low / 2 || 1e-16, (high || 1e-16) * 2] : [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(high) * 0.1 || 1)];
  const [a, b] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
  return { low, high, log, share: (x) => ((log ? Math.log10(x) : x) - a) / (b - a), value: (s) => (log ? 10 ** (a + s * (b - a)) : a + s * (b - a)) };
}

function ticksOf(axis, room) {
  const count = Math.max(2, Math.floor(room)), found = [];
  if (axis.log) {
    const [a, b] = [Math.log10(axis.low), Math.log10(axis.high)], step = Math.max(1, Math.ceil((b - a) / count));
    for (let k = Math.ceil(a / step - 1e-9) * step; k <= b + 1e-9; k += step) found.push(10 ** k);
    if (found.length > 1) return found;
  }
  const raw = (axis.high - axis.low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(axis.low / step - 1e-9); k * step <= axis.high + step * 1e-9; k++) ticks.push(k * step);
  return ticks;
}

const SUPERSCRIPTS = Object.fromEntries([..."0123456789-"].map((c, i) => [c, "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"[i]]));
const power = (k) => `10${[...String(k)].map((c) => SUPERSCRIPTS[c]).join("")}`;

// A tick as text; all ticks of an axis have as many decimals.
function tickText(x, ticks, log) {
  if (x === 0) return "0";
  const k = Math.round(Math.log10(Math.abs(x)));
  if (log && Math.abs(x / 10 ** k - 1) < 1e-9) return k >= -2 && k <= 3 ? String(Number(x.toPrecision(12))) : power(k);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(x), most = Math.max(...ticks.map(Math.abs));
  if (Math.abs(x) < step * 1e-6) return "0";
  if (most >= 1e5 || most < 1e-3) {
    const k = Math.floor(Math.log10(most) + 1e-9), digits = Math.max(0, k - Math.floor(Math.log10(step) + 1e-9));
    return `${(x / 10 ** k).toFixed(digits)}·${power(k)}`.replace("-", "−");
  }
  return x.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "−");
}

function valueText(x) {
  if (x === null || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) {
    const [digits, exponent] = x.toExponential(3).split("e");
    return `${digits}·${power(Number(exponent))}`.replace("-", "−");
  }
  return String(Number(x.toPrecision(5))).replace("-", "−");
}

// ---- one plot ----

// `state` outlives a plot that is drawn anew: which curves are switched off, and what is zoomed to.
function drawPlot(place, figure, look, width, state) {
  const narrow = width < 620, paper = look.onPaper, count = figure.panels.length;
  const curves = figure.panels.map((panel) => panel.curves.map((curve, k) => ({
    ...curve, x: curve.x || store.time,
    colour: store.colors[k % store.colors.length][look.dark ? 1 : 0],
    dash: curve.dash ? "7 4" : DASHES[Math.floor(k / store.colors.length) % 3],
  })));
  state.off ??= curves.map((panel) => new Set(panel.flatMap((curve, k) => (curve.hidden ? [k] : []))));
  const shown = (i) => curves[i].filter((_, k) => !state.off[i].has(k));

  const names = curves.flat().map((curve) => curve.name.length), beside = figure.legend && !narrow;
  const right = beside ? Math.min(60 + 7 * Math.max(...names), 0.34 * width) : figure.logAxis ? 84 : 14;
  const margin = { left: narrow ? 54 : 66, right, top: figure.marks.length ? 28 : 12, bottom: 44 };
  const inner = width - margin.left - margin.right, each = 280, gap = 26;
  const bodyHeight = count * each - (count - 1) * gap - 20, panelHeight = (bodyHeight - (count - 1) * gap) / count;
  const height = margin.top + bodyHeight + margin.bottom;
  const topOf = (i) => margin.top + i * (panelHeight + gap);

  const everyX = curves.flat().flatMap((curve) => [curve.x[0], curve.x[curve.x.length - 1]]);
  const whole = figure.logAxis
    ? curves.flat().flatMap((curve) => curve.x).reduce(([a, b], x) => [Math.min(a, x * 0.8), Math.max(b, x * 1.25)], [Infinity, 0])
    : figure.plane ? spread(curves.flat().flatMap((curve) => curve.x)) : [Math.min(...everyX), Math.max(...everyX)];
  const [low, high] = state.zoom || whole, xAxis = axisOf(low, high, Boolean(figure.logAxis));
  const px = (x) => margin.left + inner * xAxis.share(x);
  const yAxes = figure.panels.map((panel, i) => {
    let [a, b] = [Infinity, -Infinity];
    for (const curve of shown(i))
      curve.y.forEach((y, k) => {
        if (y === null || (panel.log && !(y > 0)) || curve.x[k] < low || curve.x[k] > high) return;
        if (y < a) a = y;
        if (y > b) b = y;
      });
    if (!(a <= b)) [a, b] = panel.log ? [1e-16, 1] : [0, 1];
    const spare = panel.log ? (b / a) ** 0.06 : (b - a) * 0.05;
    return panel.log ? axisOf(a / spare, b * spare, true) : axisOf(a - spare, b + spare, false);
  });
  const py = (i, y) => topOf(i) + panelHeight * (1 - yAxes[i].share(y));

  const svg = element("svg", { class: "main-svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": figure.title });
  const label = { fill: look.soft, "font-size": 12 };
  figure.panels.forEach((panel, i) => {
    const top = topOf(i);
    const across = ticksOf(xAxis, inner / (narrow ? 70 : 90)), up = ticksOf(yAxes[i], panelHeight / 42);
    for (const x of across) {
      element("line", { x1: px(x), x2: px(x), y1: top, y2: top + panelHeight, stroke: look.line }, svg);
      if (i === count - 1) element("text", { ...label, x: px(x), y: top + panelHeight + 18, "text-anchor": "middle" }, svg, tickText(x, across, xAxis.log));
    }
    for (const y of up) {
      element("line", { x1: margin.left, x2: margin.left + inner, y1: py(i, y), y2: py(i, y), stroke: look.line }, svg);
      element("text", { ...label, x: margin.left - 7, y: py(i, y) + 4, "text-anchor": "end" }, svg, tickText(y, up, panel.log));
    }
    const middle = top + panelHeight / 2;
    element("text", { fill: look.soft, "font-size": 13, x: 13, y: middle, transform: `rotate(-90 13 ${middle})`, "text-anchor": "middle" }, svg, panel.label);
    // a picture within the picture cuts off what sticks out of the panel
    const frame = { x: margin.left, y: top - 2, width: inner + (figure.logAxis ? 84 : 0), height: panelHeight + 4 };
    const layer = element("svg", { ...frame, viewBox: Object.values(frame).join(" "), fill: "none", "stroke-linejoin": "round" }, svg);
    // a kind of mark is named once, where its name has room beside the last one
    const named = new Set();
    let taken = -Infinity;
    for (const mark of figure.marks) {
      if (mark.x < low || mark.x > high) continue;
      element("line", { x1: px(mark.x), x2: px(mark.x), y1: top, y2: top + panelHeight, stroke: look.soft, "stroke-dasharray": "1 3" }, layer);
      const half = 3.2 * mark.name.length, at = Math.max(px(mark.x), half + 2);
      if (i > 0 || named.has(mark.name) || at - half < taken) continue;
      element("text", { fill: look.soft, "font-size": 11, x: at, y: margin.top - 6, "text-anchor": "middle" }, svg, mark.name);
      named.add(mark.name);
      taken = at + half + 8;
    }
    for (const curve of shown(i)) {
      if (curve.dots) {
        curve.x.forEach((x, k) => {
          if (curve.y[k] !== null) element("circle", { cx: px(x), cy: py(i, curve.y[k]), r: 2.4, fill: curve.colour, stroke: "none" }, layer);
        });
        continue;
      }
      const path = element("path", { d: pathOf(curve, px, (y) => py(i, y), panel.log), stroke: curve.colour, "stroke-width": 1.8 }, layer);
      if (curve.dash) path.setAttribute("stroke-dasharray", curve.dash);
      (curve.text || []).forEach((text, k) => {
        element("circle", { cx: px(curve.x[k]), cy: py(i, curve.y[k]), r: 4, fill: curve.colour, stroke: "none" }, layer);
        element("text", { ...label, stroke: "none", x: px(curve.x[k]) + 8, y: py(i, curve.y[k]) + 4 }, layer, text);
      });
    }
  });
  element("text", { fill: look.soft, "font-size": 13, x: margin.left + inner / 2, y: height - 6, "text-anchor": "middle" }, svg, figure.axis);

  const redo = () => drawPlot(place, figure, look, width, state);
  const box = document.createElement("div");
  box.className = "plot-box";
  box.append(svg);
  if (figure.legend) curves.forEach((panel, i) => box.append(legendOf(panel, i)));
  if (!paper && !figure.plane) box.append(readoutOf()); // in the plane nothing is read along one axis
  place.replaceChildren(box);

  // The names of a panel's curves; a click switches one off or on, a double click leaves it alone.
  function legendOf(panel, i) {
    const list = document.createElement("ul");
    list.className = "plot-legend";
    if (beside) Object.assign(list.style, { position: "absolute", left: `${width - margin.right + 12}px`, top: `${topOf(i)}px`, maxHeight: `${panelHeight}px`, width: `${margin.right - 14}px` });
    panel.forEach((curve, k) => {
      const item = list.appendChild(document.createElement("li")), button = item.appendChild(document.createElement("button"));
      const key = element("svg", { width: 22, height: 10, "aria-hidden": "true" });
      element("line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: curve.colour, "stroke-width": 2, "stroke-dasharray": curve.dash || "none" }, key);
      const name = document.createElement("span");
      name.className = "legendtext";
      name.textContent = curve.name;
      button.type = "button";
      button.setAttribute("aria-pressed", String(!state.off[i].has(k)));
      button.title = "Click to hide or show, double click for this one alone";
      button.append(key, name);
      button.addEventListener("click", () => { state.off[i].has(k) ? state.off[i].delete(k) : state.off[i].add(k); redo(); });
      button.addEventListener("dblclick", () => {
        const others = panel.map((_, j) => j).filter((j) => j !== k), alone = others.every((j) => state.off[i].has(j));
        state.off[i] = new Set(alone ? [] : others);
        redo();
      });
    });
    return list;
  }

  // What the curves read under the pointer; dragging zooms, a double click shows all again.
  function readoutOf() {
    const tip = document.createElement("div"), rule = element("line", { y1: margin.top, y2: margin.top + bodyHeight, stroke: look.soft, visibility: "hidden" }, svg);
    const chosen = element("rect", { y: margin.top, height: bodyHeight, fill: look.soft, "fill-opacity": 0.15, visibility: "hidden" }, svg);
    tip.className = "plot-tip";
    tip.hidden = true;
    let from = null;
    const at = (event) => {
      const frame = svg.getBoundingClientRect();
      return [event.clientX - frame.left, event.clientY - frame.top];
    };
    const inside = (x) => Math.min(Math.max(x, margin.left), margin.left + inner);
    const hide = () => { tip.hidden = true; rule.setAttribute("visibility", "hidden"); };
    svg.addEventListener("pointermove", (event) => {
      const [x, y] = at(event), i = Math.min(Math.max(Math.floor((y - margin.top + gap / 2) / (panelHeight + gap)), 0), count - 1);
      if (from !== null) {
        chosen.setAttribute("visibility", "visible");
        chosen.setAttribute("x", Math.min(from, inside(x)));
        chosen.setAttribute("width", Math.abs(inside(x) - from));
      }
      if (x < margin.left || x > margin.left + inner || y < margin.top || y > margin.top + bodyHeight) return hide();
      const value = xAxis.value((x - margin.left) / inner), rows = [];
      let exact = value;
      for (const curve of shown(i)) {
        const k = nearest(curve.x, value);
        if (!curve.text) exact = curve.x[k];
        const far = Math.abs(py(i, curve.y[k]) - y);
        rows.push({ curve, text: curve.text ? `${curve.text[k]}: ${valueText(curve.y[k])}` : `${curve.name}: ${valueText(curve.y[k])}`, far });
      }
      const near = [...rows].sort((a, b) => a.far - b.far).slice(0, 12); // those nearest to the pointer, where there are many
      tip.replaceChildren();
      const head = tip.appendChild(document.createElement("div"));
      head.textContent = figure.logAxis ? "" : `${figure.axis.split(" ")[0]} = ${valueText(exact)}`;
      for (const row of rows.filter((r) => near.includes(r))) {
        const line = tip.appendChild(document.createElement("div")), spot = line.appendChild(document.createElement("i"));
        spot.style.background = row.curve.colour;
        line.append(row.text);
      }
      rule.setAttribute("visibility", "visible");
      const there = figure.logAxis ? x : px(exact);
      rule.setAttribute("x1", there);
      rule.setAttribute("x2", there);
      tip.hidden = false;
      const wide = tip.offsetWidth;
      tip.style.left = `${x + 16 + wide > width ? Math.max(0, x - 16 - wide) : x + 16}px`;
      tip.style.top = `${Math.max(0, Math.min(y + 12, height - tip.offsetHeight))}px`;
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button) return; // a finger scrolls the page
      from = inside(at(event)[0]);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const [a, b] = [from, inside(at(event)[0])].sort((u, v) => u - v).map((x) => xAxis.value((x - margin.left) / inner));
      const wide = Math.abs(inside(at(event)[0]) - from) > 5;
      from = null;
      chosen.setAttribute("visibility", "hidden");
      if (wide) { state.zoom = [a, b]; redo(); }
    });
    svg.addEventListener("dblclick", () => { state.zoom = null; redo(); });
    return tip;
  }
}

// The least and the greatest of some numbers, with room on both sides.
function spread(values) {
  const [a, b] = values.reduce(([low, high], x) => (x === null ? [low, high] : [Math.min(low, x), Math.max(high, x)]), [Infinity, -Infinity]);
  const room = (b - a) * 0.06 || Math.abs(a) * 0.1 || 1;
  return [a - room, b + room];
}

// The place of the value nearest to x among ascending ones, or others.
function nearest(xs, x) {
  let [a, b] = [0, xs.length - 1];
  if (!(xs[a] <= xs[b])) return xs.reduce((best, y, k) => (Math.abs(y - x) < Math.abs(xs[best] - x) ? k : best), 0);
  while (b - a > 1) {
    const middle = (a + b) >> 1;
    if (xs[middle] <= x) a = middle; else b = middle;
  }
  return Math.abs(xs[a] - x) <= Math.abs(xs[b] - x) ? a : b;
}

// A curve as an SVG path; it breaks where there is no value, but goes on over zeros that a logarithm cannot show.
function pathOf(curve, px, py, log) {
  let text = "", pen = false;
  for (let k = 0; k < curve.x.length; k++) {
    const y = curve.y[k];
    if (y === null || (log && !(y > 0))) {
      if (!log) pen = false;
      continue;
    }
    text += `${pen ? "L" : "M"}${px(curve.x[k]).toFixed(1)} ${Math.max(-1e5, Math.min(1e5, py(y))).toFixed(1)}`;
    pen = true;
  }
  return text;
}
