// Draws the scatter charts of the page. Everything else on it is static.
(() => {
  "use strict";

  const KINDS = ["unknown", "warm", "queued", "cold", "cold_wait", "edge", "not successful"];
  const COLOURS = ["--unknown", "--warm", "--queued", "--cold", "--cold", "--unknown", "--failed"];
  // Warm requests are many and drawn first, so that what is rare lies on top of them.
  const ORDER = [1, 5, 0, 2, 4, 3, 6];

  const charts = [];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Shapes are made of rectangles: fillRect stays fast for hundreds of thousands of points. r is half the size.
  const SHAPES = {
    dot(c, x, y, r) { c.fillRect(x - r, y - r / 2, 2 * r, r); c.fillRect(x - r / 2, y - r, r, 2 * r); c.fillRect(x - 0.8 * r, y - 0.8 * r, 1.6 * r, 1.6 * r); },
    square(c, x, y, r) { c.fillRect(x - r, y - r, 2 * r, 2 * r); },
    hollow(c, x, y, r) {
      const t = Math.max(1, r / 2.5);
      c.fillRect(x - r, y - r, 2 * r, t); c.fillRect(x - r, y + r - t, 2 * r, t);
      c.fillRect(x - r, y - r, t, 2 * r); c.fillRect(x + r - t, y - r, t, 2 * r);
    },
    diamond(c, x, y, r) { for (let d = -r; d < r; d++) { const w = r - Math.abs(d + 0.5); c.fillRect(x - w, y + d, 2 * w, 1); } },
    cross(c, x, y, r) { for (let d = -r; d <= r; d++) { c.fillRect(x + d - 1, y + d - 1, 2, 2); c.fillRect(x + d - 1, y - d - 1, 2, 2); } },
  };
  const SHAPE_OF = ["hollow", "dot", "diamond", "square", "hollow", "hollow", "cross"];
  const SIZE_OF = [1, 0.8, 1.15, 1.15, 1.15, 1, 1.2];

  async function unpack(text, n) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const view = new DataView(await new Response(stream).arrayBuffer());
    const x = new Float64Array(n), y = new Float64Array(n), seq = new Float64Array(n), kind = new Uint8Array(n);
    let at = 0, s = 0;
    for (let i = 0; i < n; i++) {
      x[i] = (at += view.getUint32(4 * i, true)) / 1e6;
      y[i] = view.getUint32(4 * (n + i), true) / 1e3;
      seq[i] = s += view.getInt32(4 * (2 * n + i), true);
      kind[i] = view.getUint8(12 * n + i);
    }
    return { x, y, seq, kind };
  }

  const time = (ms) => ms >= 1000 ? +(ms / 1000).toPrecision(3) + " s" : ms >= 1 ? +ms.toPrecision(3) + " ms" : +(ms * 1000).toPrecision(3) + " us";

  function logSplits(lo, hi) {
    const all = [];
    for (let unit = 10 ** Math.floor(Math.log10(lo)); unit <= hi * 1.0001; unit *= 10) {
      for (const m of [1, 2, 5]) if (m * unit >= lo * 0.9999 && m * unit <= hi * 1.0001) all.push(m * unit);
    }
    return all;
  }

  class Chart {
    constructor(mount, spec, columns) {
      Object.assign(this, { mount, spec, columns, picked: -1 });
      this.readout = mount.parentElement.querySelector(".readout");
      this.finding = this.readout.textContent;
      this.plot = new uPlot(this.options(), [columns.x, columns.y], mount);
      new ResizeObserver(() => this.resize()).observe(mount);
      mount.addEventListener("keydown", (e) => this.key(e));
    }

    options() {
      const { spec } = this, font = "12px system-ui, sans-serif";
      const axis = { stroke: () => colour("--soft"), font, grid: { stroke: () => colour("--faint"), width: 1 }, ticks: { stroke: () => colour("--line"), size: 4, width: 1 } };
      return {
        width: this.mount.clientWidth, height: this.mount.clientHeight, legend: { show: false },
        cursor: { points: { show: false }, y: false, drag: { x: true, y: false }, bind: { dblclick: () => () => { this.zoom(0, spec.xMax); return null; } } },
        scales: { x: { time: false, auto: false, min: -spec.xMax * 0.01, max: spec.xMax }, y: { distr: 3, auto: false, range: () => [spec.yMin, spec.yMax] } },
        axes: [
          { ...axis, label: "seconds since the run began", labelFont: font, labelSize: 18, size: 28 },
          { ...axis, size: 62, splits: () => logSplits(spec.yMin, spec.yMax), filter: (u, s) => s, values: (u, s) => s.map(time) },
        ],
        series: [{}, { points: { show: false }, paths: (u, i, from, to) => { this.draw(u, from, to); return null; } }],
        hooks: { drawClear: [(u) => this.waves(u)], draw: [(u) => this.ring(u)], setCursor: [(u) => this.hover(u)], setScale: [(u, k) => this.follow(u, k)] },
      };
    }

    half(u) {
      const n = this.spec.n, css = n < 300 ? 4 : n < 3000 ? 3 : n < 30000 ? 2 : 1.25;
      return css * u.pxRatio || css * devicePixelRatio;
    }

    draw(u, from, to) {
      const { x, y, kind } = this.columns, c = u.ctx, half = this.half(u);
      let drawn = 0;
      c.save(); c.beginPath(); c.rect(u.bbox.left - half, u.bbox.top - half, u.bbox.width + 2 * half, u.bbox.height + 2 * half); c.clip();
      for (const k of ORDER) {
        c.fillStyle = colour(COLOURS[k]);
        const shape = SHAPES[SHAPE_OF[k]], r = Math.max(1, Math.round(half * SIZE_OF[k]));
        for (let i = from; i <= to; i++) {
          if (kind[i] !== k) continue;
          const v = Math.max(this.spec.yMin, y[i]);
          shape(c, Math.round(u.valToPos(x[i], "x", true)), Math.round(u.valToPos(v, "y", true)), r);
          drawn++;
        }
      }
      c.restore();
      this.mount.dataset.drawn = drawn;
    }

    waves(u) {
      const c = u.ctx, ratio = devicePixelRatio;
      c.save(); c.font = 11 * ratio + "px system-ui, sans-serif"; c.textAlign = "left"; c.textBaseline = "top";
      let free = -Infinity;
      for (const w of this.spec.waves) {
        const x = Math.round(u.valToPos(w.at, "x", true));
        if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
        c.fillStyle = colour("--line"); c.fillRect(x, u.bbox.top, ratio, u.bbox.height);
        if (x < free) continue;
        c.fillStyle = colour("--soft"); c.fillText("n=" + w.n, x + 4 * ratio, u.bbox.top + 1);
        free = x + c.measureText("n=" + w.n).width + 8 * ratio;
      }
      c.restore();
    }

    ring(u) {
      if (this.picked < 0) return;
      const c = u.ctx, half = this.half(u) * 2;
      c.fillStyle = colour("--ink");
      SHAPES.hollow(c, Math.round(u.valToPos(this.columns.x[this.picked], "x", true)), Math.round(u.valToPos(this.columns.y[this.picked], "y", true)), half);
    }

    // hover picks the request nearest to the pointer among those within 24 pixels.
    hover(u) {
      const { left, top } = u.cursor;
      if (left < 0 || top < 0) return;
      const { x, y } = this.columns, near = 24;
      let best = -1, least = near * near;
      for (let i = first(x, u.posToVal(left - near, "x")), end = u.posToVal(left + near, "x"); i < x.length && x[i] <= end; i++) {
        const dx = u.valToPos(x[i], "x") - left, dy = u.valToPos(y[i], "y") - top, d = dx * dx + dy * dy;
        if (d < least) { least = d; best = i; }
      }
      if (best >= 0) this.pick(best);
    }

    pick(i) {
      if (i === this.picked || i >= this.spec.n) return;
      this.picked = i;
      const { x, y, seq, kind } = this.columns;
      this.readout.textContent = i < 0 ? this.finding : `request ${seq[i]}: ${KINDS[kind[i]]}, ${time(y[i])}, intended at ${+x[i].toFixed(3)} s`;
      this.plot.redraw(false);
    }

    key(e) {
      const { min, max } = this.plot.scales.x, quarter = (max - min) / 4;
      const steps = { ArrowRight: 1, ArrowLeft: -1 };
      if (steps[e.key]) this.pick(Math.max(0, this.picked + steps[e.key]));
      else if (e.key === "Home") this.pick(0);
      else if (e.key === "End") this.pick(this.spec.n - 1);
      else if (e.key === "+") this.zoom(min + quarter, max - quarter);
      else if (e.key === "-") this.zoom(Math.max(0, min - quarter), Math.min(this.spec.xMax, max + quarter));
      else if (e.key === "Escape") { this.pick(-1); this.zoom(0, this.spec.xMax); } else return;
      e.preventDefault();
    }

    zoom(min, max) { this.plot.setScale("x", { min: min <= 0 ? -this.spec.xMax * 0.01 : min, max }); }

    // follow keeps the charts of one pattern on the same stretch of time.
    follow(u, scale) {
      if (scale !== "x") return;
      const { min, max } = u.scales.x;
      for (const o of charts) {
        if (o === this || o.spec.group !== this.spec.group || (o.plot.scales.x.min === min && o.plot.scales.x.max === max)) continue;
        o.plot.setScale("x", { min, max });
      }
    }

    resize() {
      const width = this.mount.clientWidth;
      if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
    }
  }

  // first returns the index of the first value that is at least v.
  function first(x, v) {
    let lo = 0, hi = x.length;
    while (lo < hi) { const mid = (lo + hi) >> 1; if (x[mid] < v) lo = mid + 1; else hi = mid; }
    return lo;
  }

  function redraw() { for (const c of charts) c.plot.redraw(false); }

  async function begin() {
    for (const spec of JSON.parse(document.getElementById("points").textContent) || []) {
      const mount = document.getElementById(spec.id);
      charts.push(new Chart(mount, spec, await unpack(spec.columns, spec.n)));
    }
    document.documentElement.dataset.charts = charts.length;
  }

  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw);

  // Paper cannot unfold anything.
  let folded = [];
  addEventListener("beforeprint", () => { folded = [...document.querySelectorAll("details:not([open])")]; for (const d of folded) d.open = true; });
  addEventListener("afterprint", () => { for (const d of folded) d.open = false; folded = []; });

  begin().catch((e) => {
    for (const m of document.querySelectorAll(".chart:empty")) m.textContent = "This browser cannot draw the chart (" + e.message + "); the table below holds its numbers.";
  });
})();
