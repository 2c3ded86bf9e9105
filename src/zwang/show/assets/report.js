// Draws the report's plots: those in sight first, the others when the browser has time.

const PAPER_WIDTH = 660; // pixels: a page of A4 within its margins
const drawn = new Set(), states = new Map();
let onPaper = false;

// ---- what a plot looks like ----

function theme() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, line, paper] = ["--ink", "--soft", "--line", "--paper"].map((name) => style.getPropertyValue(name).trim());
  const dark = !onPaper && window.matchMedia("(prefers-color-scheme: dark)").matches;
  return onPaper ? { ink: "#1d2430", soft: "#5d6675", line: "#e2e6ec", paper: "#ffffff", dark, onPaper } : { ink, soft, line, paper, dark, onPaper };
}

// ---- drawing ----

const places = [...document.querySelectorAll(".plot")];
const hidden = (place) => Boolean(place.closest("[hidden]"));

function draw(place) {
  const figure = store.figures[place.dataset.figure], look = theme();
  const width = onPaper ? PAPER_WIDTH : Math.max(Math.floor(place.clientWidth), 240);
  drawn.add(place);
  if (!states.has(place)) states.set(place, {});
  drawPlot(place, figure, look, width, states.get(place));
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
