// Slices for the viewer: fetched, kept, fetched ahead in the direction of scrolling, and windowed by a look-up table.
import { draggedWindow, makeViewer } from '/static/viewer.js';
import { slice, api } from './api.js';

// What a reader or the key has boxed: a JSON list, in pixels of axial slices.
export function boxesIn(text) {
  try { return JSON.parse(text || '[]'); } catch { return []; }
}
const keyBoxes = (places) => Object.values(places || {}).filter((place) => place.form === 'boxes').flatMap((place) => boxesIn(place.key)).map((box) => ({ ...box, kind: 'key' }));

const AHEAD = 8, BEHIND = 2, AT_ONCE = 4, MOST_BYTES = 192e6;

export class Planes {
  constructor(view, { overlay = null, onWindow = () => {} } = {}) {
    this.series = view.series;
    this.kept = new Map();
    this.edges = new Map();
    this.bytes = 0;
    this.wanted = [];
    this.urgent = new Map();
    this.running = new Map();
    this.seen = new Set();
    this.direction = {};
    this.sheets = {};
    this.isDrawing = false;
    this.drawn = [];
    this.keyBoxes = overlay ? keyBoxes(overlay.places) : [];
    this.onDrawn = () => {};
    this.onWindow = onWindow;
    this.setWindow(...this.series.windows[0].slice(1));
    this.element = this.build(view, overlay);
    this.controls = this.element.controls;
    for (const plane of this.series.planes) this.moved(plane, this.controls.at[plane], 0);
  }

  build(view, overlay) {
    const { shape, planes, frames, spacing } = this.series;
    const middle = (plane) => Math.floor(shape[frames[plane].through] / 2);
    const start = view.frames && view.frames.length ? view.frames[Math.floor(view.frames.length / 2)] : null;
    const structures = overlay ? overlay.structures : [];
    const of = (plane) => {
      const count = shape[frames[plane].through];
      return {
        slices: Array.from({ length: count }, (_, n) => n), spoken: `1–${count}`,
        opening: plane === 'axial' && start !== null ? Math.min(start, count - 1) : middle(plane),
        jumps: structures.map((one) => (overlay.jumps[one.structure] || [0, 0, 0])[frames[plane].through]),
      };
    };
    const marks = (overlay && overlay.overlay) || { boxes: [], lines: [], planes: [], midline: null };
    const viewed = {
      shape, spacing, structures: structures.map((one) => one.structure), boxed: false, marks, asked: view.marks, unoriented: !this.series.oriented,
      planes: Object.fromEntries(planes.map((plane) => [plane, of(plane)])),
    };
    return makeViewer({ planes: frames }, viewed, structures, {
      hands: true,
      paint: (plane, index, paint) => this.paint(plane, index, paint),
      outlines: (plane, index, name) => this.outline(plane, index, name),
      window: (dx, dy) => this.drag(dx, dy),
      moved: (plane, index, by) => this.moved(plane, index, by),
      drawing: { isOn: () => this.isDrawing, done: (box) => this.onDrawn(box), boxes: () => [...this.keyBoxes, ...this.drawn] },
    });
  }
  // Boxes to be shown: the reader's own as `mine`, others' as `theirs`.
  showBoxes(boxes) {
    this.drawn = boxes;
    this.controls.drawMarks('axial');
  }
  go(frame) {
    this.controls.move('axial', frame);
    this.controls.step('axial', 0);
  }

  // Black at `low`, white at `high`, in intensities.
  setWindow(low, high) {
    this.low = low;
    this.high = Math.max(high, low + 1e-6);
    const { slope, intercept } = this.series, table = this.table || (this.table = new Uint8ClampedArray(65536));
    const scale = 255 / (this.high - this.low);
    for (let n = 0; n < 65536; n++) table[n] = ((n - 32768) * slope + intercept - this.low) * scale;
    this.onWindow(this.low, this.high);
  }
  preset(number) {
    const chosen = this.series.windows[number];
    if (!chosen) return;
    this.setWindow(chosen[1], chosen[2]);
    this.repaint();
  }
  // By right drag.
  drag(dx, dy) {
    this.setWindow(...draggedWindow(this.low, this.high, dx, dy));
    this.repaint();
  }
  repaint() {
    if (this.planned) return;
    this.planned = true;
    requestAnimationFrame(() => { this.planned = false; this.controls.drawAll(); });
  }

  sheet(plane, values) {
    const frame = this.series.frames[plane], w = this.series.shape[frame.across], h = this.series.shape[frame.down];
    const held = this.sheets[plane] || (this.sheets[plane] = (() => {
      const canvas = document.createElement('canvas');
      canvas.width = w;
      canvas.height = h;
      const context = canvas.getContext('2d'), image = context.createImageData(w, h);
      return { canvas, context, image, pixels: new Uint32Array(image.data.buffer) };
    })());
    const { pixels } = held, { table } = this;
    for (let n = 0; n < values.length; n++) { const grey = table[values[n] + 32768]; pixels[n] = 0xff000000 | grey << 16 | grey << 8 | grey; }
    held.context.putImageData(held.image, 0, 0);
    return held.canvas;
  }

  paint(plane, index, paint) {
    const key = `${plane}/${index}`, values = this.kept.get(key);
    if (values) { this.urgent.delete(plane); paint(this.sheet(plane, values)); return; }
    // Of slices passed over while one scrolls only the last is asked for: the picture one stops at never waits for them.
    this.urgent.set(plane, () => this.fetch(key, true).then((got) => got && paint(this.sheet(plane, got))));
    this.pump();
  }

  // One fetch a slice, however many ask; what is on the screen comes before what is only near.
  fetch(key, urgent) {
    if (this.kept.has(key)) return Promise.resolve(this.kept.get(key));
    if (this.running.has(key)) return this.running.get(key);
    const job = slice(`${this.series.token}/${key}`).then((values) => { this.keep(key, values); return values; })
      .catch(async (error) => {
        if (!urgent || this.closed) return null;
        if (error.status === 401 || error.status === 423) await api('/me');
        else await new Promise((done) => setTimeout(done, 1500));
        this.running.delete(key);
        return this.fetch(key, false);
      })
      .finally(() => { this.running.delete(key); this.pump(); });
    this.running.set(key, job);
    return job;
  }
  keep(key, values) {
    this.kept.set(key, values);
    this.bytes += values.byteLength;
    for (const [old, held] of this.kept) {
      if (this.bytes <= MOST_BYTES) break;
      this.kept.delete(old);
      this.bytes -= held.byteLength;
    }
  }
  moved(plane, index, by) {
    this.seen.add(`${plane}/${index}`);
    if (by) this.direction[plane] = Math.sign(by);
    const count = this.series.shape[this.series.frames[plane].through], way = this.direction[plane] || 1;
    const near = [];
    for (let n = 1; n <= AHEAD; n++) near.push(index + n * way);
    for (let n = 1; n <= BEHIND; n++) near.push(index - n * way);
    this.wanted = [...near.filter((n) => n >= 0 && n < count).map((n) => `${plane}/${n}`), ...this.wanted.filter((key) => !key.startsWith(plane))].filter((key) => !this.kept.has(key));
    this.pump();
  }
  pump() {
    while (!this.closed && this.running.size < AT_ONCE && (this.urgent.size || this.wanted.length)) {
      const [first] = this.urgent;
      if (!first) { this.fetch(this.wanted.shift(), false); continue; }
      this.urgent.delete(first[0]);
      first[1]();
    }
  }

  outline(plane, index, name) {
    const key = `${plane}/${index}`, held = this.edges.get(key);
    if (held) return held[name];
    if (held === undefined) {
      this.edges.set(key, null);
      api(`/series/${this.series.token}/outlines/${key}`).then((paths) => {
        this.edges.set(key, paths);
        if (!this.closed && this.controls.at[plane] === index) this.controls.drawMarks(plane);
      }).catch(() => this.edges.delete(key));
    }
    return null;
  }
  close() { this.closed = true; this.wanted = []; this.urgent.clear(); }
}
