// ---- the player: a clock, controls and a canvas. One for each script element, nothing global ----

const root = document.currentScript.closest(".zw-player");
const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
const [canvas, legend] = [root.querySelector("canvas"), root.querySelector(".zw-legend")];
const [play, scrub, time, speed, reset] = ["play", "scrub", "time", "speed", "reset"].map((role) =>
  root.querySelector(`[data-role="${role}"]`));
const ctx = canvas.getContext("2d");
const view = (data.dimension === 3 ? spaceView : planeView)(data);
const places = placesOf(data);
const contacts = contactsOf(data);
const dots = [...root.querySelectorAll("[data-contact]")];
const solids = data.dimension === 3 ? solidScene(data, places, view) : null;
const duration = data.end - data.begin;
const FLASH = 0.15; // seconds that an impact is shown, as it is played
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

const fingers = new Map(); // pointers that are down, and where they were last
let now = data.begin, playing = false, lastTick = 0, requested = 0, printing = false;
let width = 1, height = 1, pointed = null, pointer = null;

// ---- the clock ----

const tauOf = (t) => (duration > 0 ? ((t - data.begin) / duration) * (data.frames - 1) : 0);
const magnitude = Math.floor(Math.log10(duration || 1));
const digits = magnitude < 2 ? Math.min(2 - Math.min(magnitude, 0), 12) : Math.max(3 - magnitude, 0);
const timeText = (t) => `t = ${t.toFixed(digits)}${data.timeUnit ? ` ${data.timeUnit}` : ""}`;

function setTime(t) {
  now = Math.min(Math.max(t, data.begin), data.end);
  scrub.value = now;
  time.textContent = timeText(now);
  scrub.setAttribute("aria-valuetext", timeText(now));
  redraw();
}

function setPlaying(on) {
  if (on && now >= data.end) setTime(data.begin);
  playing = on && duration > 0;
  play.toggleAttribute("data-playing", playing);
  play.setAttribute("aria-label", playing ? "Pause" : "Play");
  lastTick = performance.now();
  redraw();
}

function tick(stamp) {
  requested = 0;
  if (playing) {
    const passed = Math.max(0, Math.min(stamp - lastTick, 250)) / 1000; // a tab that was hidden goes on where it was
    lastTick = stamp;
    setTime(now + passed * Number(speed.value));
    if (now >= data.end) setPlaying(false);
  }
  draw();
}

function redraw() {
  if (!requested) requested = requestAnimationFrame(tick);
}

// ---- the picture ----

// The page's colours; whether it is dark shows in its ink.
function coloursNow() {
  const style = getComputedStyle(root);
  const [ink, soft, paper, line] = ["ink", "soft", "paper", "line"].map((name) => style.getPropertyValue(`--zw-${name}`).trim());
  ctx.fillStyle = "#000000";
  ctx.fillStyle = ink;
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(ctx.fillStyle.slice(i, i + 2), 16));
  const dark = 0.3 * r + 0.6 * g + 0.1 * b > 128;
  root.toggleAttribute("data-dark", dark);
  return {
    ink, soft, paper, line, dark,
    axis: dark ? "#4a5566" : "#b4bdc9",
    floor: dark ? "#1c222d" : "#f7f8fa",
    shadow: dark ? "#05070a" : "#5f6a7a",
  };
}

function draw() {
  const colours = coloursNow(), tau = tauOf(now);
  const modes = contacts.now(now, FLASH * Number(speed.value));
  const colourOf = (shape) => {
    const lit = contacts.lit(shape.name, modes);
    return lit ? contacts.colour(lit, colours.dark) : shape.colors[colours.dark ? 1 : 0];
  };
  dots.forEach((dot, i) => {
    dot.style.setProperty("--mode", contacts.colour(modes[i], colours.dark));
    dot.querySelector("span").textContent = modes[i] === "struck" ? "impact" : modes[i];
  });
  const strengthOf = (index) => (pointed === null || pointed === index ? 1 : 0.35);
  const ratio = canvas.width / width;
  ctx.save(); // every picture begins with the same pens
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = FONT;
  const numbers = view.backdrop(ctx, colours);
  const end = printing ? data.frames - 1 : tau, ghosts = [...Array(printing ? 8 : 0).keys()].map((i) => ((data.frames - 1) * i) / 7);
  const trailing = data.shapes.filter((s) => s.trail);
  if (solids) {
    const trails = trailing.map((s) => trailOf(s, data, places, end, colourOf(s), printing));
    const look = { colours, colourOf, strengthOf };
    for (const t of ghosts) solids.draw(ctx, t, width, height, ratio, { ...look, alpha: 0.16, shadows: false }); // paper does not move
    solids.draw(ctx, tau, width, height, ratio, { ...look, trails, hurry: playing || fingers.size > 0 });
  } else {
    trailing.forEach((s) => paintTrail(ctx, s, data, places, view, end, colourOf(s), printing));
    for (const t of ghosts) paintShapes(ctx, data, places, view, t, colourOf, () => 0.16);
    paintShapes(ctx, data, places, view, tau, colourOf, strengthOf);
  }
  numbers();
  if (pointed !== null && pointer) nameTag(colours, tau);
  ctx.restore();
}

// The name of the shape under the pointer, and where its first point is.
function nameTag(colours, tau) {
  const shape = data.shapes[pointed], place = places.between(shape.first, tau);
  const unit = data.unit ? ` ${data.unit}` : "";
  const text = place ? `${shape.name}  (${place.map((x) => Number(x.toPrecision(3))).join(", ")})${unit}` : shape.name;
  const wide = ctx.measureText(text).width + 16;
  const x = Math.min(Math.max(pointer[0] + 12, 4), width - wide - 4), y = Math.max(pointer[1] - 34, 4);
  ctx.fillStyle = colours.ink;
  ctx.beginPath();
  ctx.roundRect(x, y, wide, 24, 5);
  ctx.fill();
  ctx.fillStyle = colours.paper;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, x + 8, y + 12.5);
}

function resize() {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  [width, height] = [canvas.clientWidth || 1, canvas.clientHeight || 1];
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  view.resize(width, height);
  draw();
}

// ---- what people do ----

play.addEventListener("click", () => setPlaying(!playing));
scrub.addEventListener("input", () => setTime(Number(scrub.value)));
reset.addEventListener("click", () => { view.reset(); redraw(); });
canvas.addEventListener("dblclick", () => { view.reset(); redraw(); });

root.addEventListener("keydown", (event) => {
  const own = event.target.closest("button, select, input");
  const step = duration / Math.max(data.frames - 1, 1) * (event.shiftKey ? 10 : 1);
  const moves = { ArrowRight: now + step, ArrowLeft: now - step, Home: data.begin, End: data.end };
  if (event.key === " " && (!own || own === scrub)) setPlaying(!playing);
  else if (event.key in moves && own !== speed) setTime(moves[event.key]);
  else return;
  event.preventDefault();
});

const whereIs = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, whereIs(event));
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  const here = whereIs(event), before = fingers.get(event.pointerId);
  if (before) {
    const share = 1 / fingers.size;
    view.drag((here[0] - before[0]) * share, (here[1] - before[1]) * share);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      view.zoom(apart(here) / apart(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
    }
    fingers.set(event.pointerId, here);
  }
  pointer = here;
  pointed = before ? null : solids ? solids.shapeAt(...here) : shapeAt(data, places, view, tauOf(now), ...here);
  redraw();
});
const lift = (event) => {
  fingers.delete(event.pointerId);
  if (event.type === "pointerleave") pointer = pointed = null;
  redraw();
};
for (const type of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(type, lift);

// The wheel belongs to the page until the picture is clicked: then it zooms (with Ctrl always).
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && document.activeElement !== canvas) return;
  event.preventDefault();
  view.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY * (event.deltaMode ? 30 : 1))) * 0.004), ...whereIs(event));
  redraw();
}, { passive: false });

for (const item of legend.querySelectorAll("[data-shape]")) {
  item.addEventListener("pointerenter", () => { pointed = Number(item.dataset.shape); redraw(); });
  item.addEventListener("pointerleave", () => { pointed = null; redraw(); });
}

// ---- the surroundings: size, dark mode, paper ----

new ResizeObserver(resize).observe(canvas);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new MutationObserver(redraw).observe(document.documentElement, { attributes: true });
const onPaper = (yes) => () => { printing = yes; resize(); };
window.addEventListener("beforeprint", onPaper(true));
window.addEventListener("afterprint", onPaper(false));

time.style.minWidth = `${Math.max(timeText(data.begin).length, timeText(data.end).length) - 1}ch`;
resize();
setTime(data.begin);
if (root.dataset.autoplay === "true" && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) setPlaying(true);
