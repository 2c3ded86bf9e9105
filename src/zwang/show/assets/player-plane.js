// ---- the view of the plane: equal scales on both axes, drag to move, round numbers along the edges ----

// A round step (1, 2 or 5 times a power of ten) that divides a length into about `count` parts.
function roundStep(length, count) {
  const raw = length / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
}

function roundText(value, step) {
  if (Math.abs(value) < step / 2) return "0";
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const text = digits > 6 || Math.abs(value) >= 1e6 ? value.toExponential(1) : value.toFixed(digits);
  return text.replace("-", "−");
}

// Text that stays readable on top of lines.
function haloText(ctx, text, x, y, ink, paper) {
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  ctx.strokeStyle = paper;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = ink;
  ctx.fillText(text, x, y);
}

function planeView(data) {
  const { low, high } = data;
  const middle = [0, 1].map((d) => (low[d] + high[d]) / 2);
  let width = 1, height = 1, scale = 1, fit = 1, centre = middle.slice();

  return {
    resize(w, h) {
      const zoomed = scale / fit;
      [width, height] = [w, h];
      const margin = Math.min(54, 0.12 * Math.min(w, h) + 16);
      const extent = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
      const room = [0, 1].map((d) => Math.max(high[d] - low[d], extent * 1e-3));
      fit = Math.min((w - 2 * margin) / room[0], (h - 2 * margin) / room[1]);
      scale = fit * zoomed;
    },
    reset() {
      [scale, centre] = [fit, middle.slice()];
    },
    project(p) {
      return [width / 2 + (p[0] - centre[0]) * scale, height / 2 - (p[1] - centre[1]) * scale, 0];
    },
    drag(dx, dy) {
      centre[0] -= dx / scale;
      centre[1] += dy / scale;
    },
    zoom(factor, x, y) {
      const next = Math.min(Math.max(scale * factor, fit * 0.1), fit * 200);
      const grow = 1 / scale - 1 / next; // what is under the pointer stays there
      centre[0] += (x - width / 2) * grow;
      centre[1] -= (y - height / 2) * grow;
      scale = next;
    },
    backdrop(ctx, colours) {
      const step = roundStep(1, scale / 80); // a line every 80 pixels or so
      const left = centre[0] - width / 2 / scale, right = centre[0] + width / 2 / scale;
      const bottom = centre[1] - height / 2 / scale, top = centre[1] + height / 2 / scale;
      const rule = (value, x0, y0, x1, y1) => {
        ctx.strokeStyle = Math.abs(value) < step / 2 ? colours.axis : colours.line;
        ctx.beginPath();
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
        ctx.stroke();
      };
      ctx.lineWidth = 1;
      const across = [], up = [];
      for (let i = Math.ceil(left / step); i * step <= right; i++) across.push(i * step);
      for (let i = Math.ceil(bottom / step); i * step <= top; i++) up.push(i * step);
      const px = (x) => Math.round(width / 2 + (x - centre[0]) * scale) + 0.5;
      const py = (y) => Math.round(height / 2 - (y - centre[1]) * scale) + 0.5;
      across.forEach((x) => rule(x, px(x), 0, px(x), height));
      up.forEach((y) => rule(y, 0, py(y), width, py(y)));
      return () => { // numbers come last, on top of everything
        ctx.textAlign = "center";
        ctx.textBaseline = "alphabetic";
        const name = ctx.measureText(data.axes[0]).width + 24;
        for (const x of across) {
          const at = px(x);
          if (at > 40 && at < width - name) haloText(ctx, roundText(x, step), at, height - 8, colours.soft, colours.paper);
        }
        ctx.textAlign = "left";
        ctx.textBaseline = "middle";
        for (const y of up) {
          const at = py(y);
          if (at > 34 && at < height - 26) haloText(ctx, roundText(y, step), 8, at, colours.soft, colours.paper);
        }
        haloText(ctx, data.axes[1], 8, 15, colours.ink, colours.paper);
        ctx.textAlign = "right";
        ctx.textBaseline = "alphabetic";
        haloText(ctx, data.axes[0], width - 8, height - 8, colours.ink, colours.paper);
      };
    },
  };
}
