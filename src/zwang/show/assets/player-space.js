// ---- the view of space: z up, a mild perspective, drag to turn; a ground with shadows gives depth ----

function spaceView(data) {
  const { low, high } = data;
  const extent = Math.max(...[0, 1, 2].map((d) => high[d] - low[d])) || 1;
  // Things that stand a little above zero stand on the ground there.
  const ground = low[2] >= 0 && low[2] < extent ? 0 : low[2];
  const step = roundStep(extent, 7);
  const floor = [0, 1].map((d) => [Math.floor(low[d] / step + 0.05) * step, Math.ceil(high[d] / step - 0.05) * step]);
  const top = Math.max(high[2], ground + extent * 0.05);
  const middle = [(floor[0][0] + floor[0][1]) / 2, (floor[1][0] + floor[1][1]) / 2, (ground + top) / 2];
  const radius = Math.hypot(floor[0][1] - middle[0], floor[1][1] - middle[1], top - middle[2]);
  const distance = 4 * radius;
  let width = 1, height = 1, zoomed = 1, scale = 1, shift = [0, 0], azimuth, elevation;

  // Right, up and towards the eye, in pixels of a picture of unit scale.
  function turn(p) {
    const [dx, dy, dz] = [p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]];
    const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
    const depth = ce * (ca * dx + sa * dy) + se * dz;
    const near = distance / Math.max(distance - depth, 0.2 * distance);
    return [near * (ca * dy - sa * dx), near * (ce * dz - se * (ca * dx + sa * dy)), depth];
  }

  const view = {
    ground,
    resize(w, h) {
      [width, height] = [w, h];
      const corners = [];
      for (const x of floor[0]) for (const y of floor[1]) for (const z of [ground, top]) corners.push(turn([x, y, z]));
      const [across, up] = [0, 1].map((d) => corners.map((c) => c[d]));
      const span = (values) => Math.max(...values) - Math.min(...values);
      const [beside, above] = [Math.min(120, 0.22 * w), Math.min(90, 0.24 * h)]; // room for numbers
      scale = zoomed * Math.min((w - beside) / span(across), (h - above) / span(up));
      shift = [across, up].map((values) => (Math.max(...values) + Math.min(...values)) / 2);
    },
    reset() {
      [zoomed, azimuth, elevation] = [1, -1.0, 0.5];
      view.resize(width, height);
    },
    // Where the eye is, in the numbers that `project` computes with; solids do so themselves, thousands of times.
    camera() {
      const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
      return {
        right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], out: [ce * ca, ce * sa, se],
        middle, distance, scale, x0: width / 2 - shift[0] * scale, y0: height / 2 + shift[1] * scale,
      };
    },
    project(p) {
      const [x, y, depth] = turn(p);
      return [width / 2 + (x - shift[0]) * scale, height / 2 - (y - shift[1]) * scale, depth];
    },
    drag(dx, dy) {
      azimuth -= dx * 0.008;
      elevation = Math.min(Math.max(elevation + dy * 0.008, 0.02), Math.PI / 2);
    },
    zoom(factor) {
      const next = Math.min(Math.max(zoomed * factor, 0.3), 40);
      scale *= next / zoomed;
      zoomed = next;
    },
    backdrop(ctx, colours) {
      const [[x0, x1], [y0, y1]] = floor;
      const path = (points) => {
        ctx.beginPath();
        points.map(view.project).forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
      };
      path([[x0, y0, ground], [x1, y0, ground], [x1, y1, ground], [x0, y1, ground]]);
      ctx.closePath();
      ctx.fillStyle = colours.floor;
      ctx.fill();
      ctx.lineWidth = 1;
      const lines = (d) => {
        const values = [];
        for (let i = Math.round(floor[d][0] / step); i <= Math.round(floor[d][1] / step); i++) values.push(i * step);
        return values;
      };
      for (const d of [0, 1]) {
        for (const value of lines(d)) {
          const [from, to] = floor[1 - d].map((other) => (d ? [other, value, ground] : [value, other, ground]));
          ctx.strokeStyle = Math.abs(value) < step / 2 ? colours.axis : colours.line;
          path([from, to]);
          ctx.stroke();
        }
      }
      const numbers = upright(ctx, colours, path, x0, x1, y0, y1);
      return () => { // numbers along the two edges that are nearer, and up one corner
        const nearY = Math.sin(azimuth) > 0 ? y1 : y0, nearX = Math.cos(azimuth) > 0 ? x1 : x0;
        const edge = (d, value) => (d ? [nearX, value, ground] : [value, nearY, ground]);
        const centre = view.project([middle[0], middle[1], ground]);
        for (const d of [0, 1]) {
          const values = lines(d);
          const [a, b] = [values[0], values.at(-1)].map((value) => view.project(edge(d, value)));
          const size = Math.hypot(b[0] - a[0], b[1] - a[1]);
          const every = Math.max(1, Math.ceil((values.length * 38) / size));
          values.forEach((value, i) => {
            if (i % every || !i || i === values.length - 1) return;
            outside(ctx, roundText(value, step), edge(d, value), centre, 14, colours.soft, colours.paper);
          });
          outside(ctx, data.axes[d], edge(d, middle[d]), centre, 36, colours.ink, colours.paper);
        }
        numbers();
      };
    },
  };

  // Text a little outside of a place on the ground's edge, as seen from its centre.
  function outside(ctx, text, place, centre, away, ink, paper) {
    const [x, y] = view.project(place);
    const length = Math.hypot(x - centre[0], y - centre[1]) || 1;
    away += (Math.abs(x - centre[0]) / length) * (ctx.measureText(text).width / 2 - 8);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    haloText(ctx, text, x + ((x - centre[0]) / length) * away, y + ((y - centre[1]) / length) * away, ink, paper);
  }

  // The z axis, at the corner that is leftmost on the screen.
  function upright(ctx, colours, path, x0, x1, y0, y1) {
    const corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
    const [x, y] = corners.reduce((a, b) => (view.project([...b, ground])[0] < view.project([...a, ground])[0] ? b : a));
    ctx.strokeStyle = colours.line;
    path([[x, y, ground], [x, y, top]]);
    ctx.stroke();
    return () => {
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      const foot = view.project([x, y, ground]), head = view.project([x, y, top]);
      const every = Math.max(1, Math.ceil(24 / ((Math.abs(head[1] - foot[1]) * step) / (top - ground) + 1e-9)));
      const label = Math.cos(elevation) > 0.2;
      for (let i = Math.ceil(ground / step + 0.01); label && i * step <= top; i += every) {
        const [px, py] = view.project([x, y, i * step]);
        if (py > head[1] + 18) haloText(ctx, roundText(i * step, step), px - 6, py, colours.soft, colours.paper);
      }
      if (label) haloText(ctx, data.axes[2], head[0] - 6, head[1], colours.ink, colours.paper);
    };
  }

  view.reset();
  return view;
}
