// Draws the report's plots with Plotly: those in sight first, the others when the browser has time.
"use strict";
(() => {
const store = JSON.parse(document.getElementById("report-data").textContent);
const NARROW = 620;
const PAPER_WIDTH = 660; // pixels: a page of A4 within its margins
const drawn = new Set();
let onPaper = false;

// ---- what a plot looks like ----

function theme() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, line, paper] = ["--ink", "--soft", "--line", "--paper"].map((name) => style.getPropertyValue(name).trim());
  const dark = !onPaper && window.matchMedia("(prefers-color-scheme: dark)").matches;
  return onPaper ? { ink: "#1d2430", soft: "#5d6675", line: "#e2e6ec", paper: "#ffffff", dark } : { ink, soft, line, paper, dark };
}

const suffix = (i) => (i ? String(i + 1) : "");

function tracesOf(figure, look, width) {
  return figure.panels.flatMap((panel, i) => panel.curves.map((curve, k) => ({
    type: "scatter",
    name: escaped(curve.name),
    x: curve.x || store.time,
    y: curve.y,
    yaxis: `y${suffix(i)}`,
    legend: `legend${width < NARROW ? "" : suffix(i)}`, // one below, where there is no room beside
    mode: curve.text ? "lines+markers+text" : "lines",
    text: curve.text,
    textposition: "middle right",
    textfont: { color: look.soft, size: 12 },
    marker: { size: 8 },
    cliponaxis: !curve.text,
    connectgaps: panel.log,
    visible: curve.hidden ? "legendonly" : true,
    hovertemplate: curve.text ? `%{text}: %{y:.2e}<extra></extra>` : undefined,
    line: {
      color: store.colors[k % store.colors.length][look.dark ? 1 : 0],
      width: 1.8, simplify: false,
      dash: curve.dash ? "dash" : ["solid", "dot", "dashdot"][Math.floor(k / store.colors.length) % 3],
    },
  })));
}

// Plotly reads some markup in names; a name is a name.
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function layoutOf(figure, look, width) {
  const count = figure.panels.length, narrow = width < NARROW, gap = count > 1 ? 0.09 / (count - 1) : 0;
  const share = (1 - gap * (count - 1)) / count;
  const many = figure.panels.flatMap((panel) => panel.curves).length;
  const names = figure.panels.flatMap((panel) => panel.curves.map((curve) => curve.name));
  const widest = 56 + 7 * Math.max(...names.map((name) => name.length));
  const rows = narrow && figure.legend ? Math.min(Math.ceil(many / Math.max(Math.floor((width - 60) / widest), 1)), 6) : 0; // of a legend below
  const axis = {
    gridcolor: look.line, linecolor: look.line, zerolinecolor: look.line, tickcolor: look.line, zerolinewidth: 1,
    tickfont: { color: look.soft, size: 12 }, title: { font: { color: look.soft, size: 13 }, standoff: 8 },
    exponentformat: "power", automargin: true, ticks: "outside", ticklen: 4,
  };
  const height = 60 + 280 * count + rows * 22;
  const layout = {
    width, height,
    margin: { l: narrow ? 48 : 64, r: figure.logAxis ? 64 : 12, t: 14, b: 48 + rows * 22, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", color: look.ink, size: 13 },
    hovermode: figure.logAxis || many > 8 ? "closest" : "x unified",
    hoverlabel: { bgcolor: look.paper, bordercolor: look.line, font: { color: look.ink, size: 12 } },
    dragmode: narrow ? false : "zoom",
    showlegend: figure.legend,
    xaxis: {
      ...axis, anchor: `y${suffix(count - 1)}`, type: figure.logAxis ? "log" : "linear", hoverformat: ".6~g",
      nticks: figure.logAxis ? (narrow ? 4 : 8) : undefined, tickangle: 0,
      title: { ...axis.title, text: escaped(figure.axis) },
    },
    shapes: figure.marks.map((mark) => ({
      type: "line", xref: "x", yref: "paper", x0: mark.x, x1: mark.x, y0: 0, y1: 1,
      line: { color: look.soft, width: 1, dash: "dot" },
    })),
    annotations: figure.marks.filter((mark) => mark.name).map((mark) => ({
      xref: "x", yref: "paper", x: mark.x, y: 1, yanchor: "bottom", xanchor: "center", showarrow: false,
      text: escaped(mark.name), font: { color: look.soft, size: 11 },
    })),
  };
  if (layout.annotations.length) layout.margin.t = 26;
  figure.panels.forEach((panel, i) => {
    const top = 1 - i * (share + gap);
    layout[`yaxis${suffix(i)}`] = {
      ...axis, domain: [Math.max(top - share, 0), top], type: panel.log ? "log" : "linear", hoverformat: ".5~g",
      title: { ...axis.title, text: escaped(panel.label) }, ...(panel.log ? { dtick: dtickOf(panel) } : {}),
    };
    const own = narrow
      ? { orientation: "h", x: 0, xanchor: "left", y: -(44 / (height - layout.margin.t - layout.margin.b)), yanchor: "top", maxheight: rows * 22 + 12 }
      : { x: 1.01, xanchor: "left", y: top, yanchor: "top", maxheight: share };
    layout[`legend${suffix(i)}`] = { bgcolor: "rgba(0,0,0,0)", font: { color: look.ink, size: 12 }, tracegroupgap: 2, itemwidth: 30, ...own };
  });
  return layout;
}

// One mark a decade or fewer where there are many; Plotly's own choice where there is hardly one.
function dtickOf(panel) {
  const logs = panel.curves.flatMap((curve) => curve.y.filter((y) => y > 0).map(Math.log10));
  const [low, high] = [logs.reduce((a, b) => Math.min(a, b), Infinity), logs.reduce((a, b) => Math.max(a, b), -Infinity)];
  return high - low < 1.5 ? undefined : Math.ceil((high - low) / 6);
}

// ---- drawing ----

const places = [...document.querySelectorAll(".plot")];
const hidden = (place) => Boolean(place.closest("[hidden]"));

function draw(place) {
  const figure = store.figures[place.dataset.figure], look = theme();
  const width = onPaper ? PAPER_WIDTH : Math.max(Math.floor(place.clientWidth), 240);
  drawn.add(place);
  Plotly.react(place, tracesOf(figure, look, width), layoutOf(figure, look, width), {
    displaylogo: false, displayModeBar: onPaper ? false : undefined,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg", filename: place.dataset.figure },
  });
  place.style.minHeight = "";
}

function redraw() {
  drawn.forEach((place) => { if (onPaper || !hidden(place)) draw(place); });
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
}, { rootMargin: "300px" });
places.forEach((place) => watcher.observe(place));

const whenIdle = window.requestIdleCallback || ((work) => setTimeout(work, 100));
(function next() {
  const place = places.find((p) => !drawn.has(p) && !hidden(p));
  if (place) whenIdle(() => { if (!drawn.has(place)) draw(place); next(); }, { timeout: 2000 });
})();

// ---- tabs ----

for (const list of document.querySelectorAll('[role="tablist"]')) {
  const tabs = [...list.querySelectorAll('[role="tab"]')];
  const choose = (tab) => {
    for (const one of tabs) {
      const on = one === tab, panel = document.getElementById(one.getAttribute("aria-controls"));
      one.setAttribute("aria-selected", String(on));
      one.tabIndex = on ? 0 : -1;
      panel.hidden = !on;
      if (on) panel.querySelectorAll(".plot").forEach(draw);
    }
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tab = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    choose(tab);
    tab.focus();
    event.preventDefault();
  });
}

// ---- the surroundings: size, dark mode, paper ----

let width = window.innerWidth, pending = 0;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return; // a phone's address bar comes and goes
  width = window.innerWidth;
  clearTimeout(pending);
  pending = setTimeout(redraw, 150);
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
const folded = [...document.querySelectorAll("details:not([open])")];
window.addEventListener("beforeprint", () => {
  onPaper = true;
  folded.forEach((one) => { one.dataset.was = String(one.open); one.open = true; }); // paper cannot be unfolded
  places.forEach(draw);
});
window.addEventListener("afterprint", () => {
  onPaper = false;
  folded.forEach((one) => { one.open = one.dataset.was === "true"; });
  redraw();
});
})();
