// Three planes of one item, in the report and in the reading station. Pixels are voxels; the browser scales them by
// millimetres. The report embeds its pictures; the station gives `options`: `paint` draws a slice it has fetched, `outlines`
// fetches edges, `hands` turns on crosshair, window, pan and zoom by mouse, `moved` is told of every slice that is shown,
// `drawing` has boxes on axial slices that readers draw (`isOn`, `done`) and that are shown (`boxes`).
const ENDS = { axial: 'from the feet', coronal: 'from the back', sagittal: "from the patient's left" };
const show = { hidden: new Set(), boxes: null, line: true, lines: false, zoom: false, main: null, overlay: true, neurological: false };
function makeViewer(shared, view, subjects, options = {}) {
  const PLANES = Object.keys(view.planes);
  const pictures = options.paint ? null : shared.pictures[view.source];
  const windowing = options.paint ? null : makeWindowing(shared.tones[view.source], () => drawSoon());
  const outlines = options.outlines ? null : shared.outlines[view.series] || {};
  const cameras = {};
  const panes = {};
  const at = {};
  const grid = h('div', { class: 'panes' });

  // Every shown axis falls from the left and top edge, so that a pixel is the index counted from the far end.
  // In the neurological convention left and right change places; front and back, head and feet never do.
  const isFlipped = (plane) => show.neurological && shared.planes[plane].across === 0;
  const columnOf = (plane, value) => isFlipped(plane) ? value + 0.5 : view.shape[shared.planes[plane].across] - 0.5 - value;
  const rowOf = (plane, value) => view.shape[shared.planes[plane].down] - 0.5 - value;
  const pixel = (plane, point) => [columnOf(plane, point[shared.planes[plane].across]), rowOf(plane, point[shared.planes[plane].down])];
  const sizeOf = (plane) => {
    const { across, down } = shared.planes[plane];
    return { w: view.shape[across], h: view.shape[down], mx: view.spacing[across], my: view.spacing[down] };
  };

  function rectOf(plane) {
    const { w, h: height, mx, my } = sizeOf(plane);
    const corners = view.marks.boxes.flatMap((box) => box.corners.map((point) => pixel(plane, point)));
    if (cameras[plane]) {
      const { zoom, x, y } = cameras[plane];
      return [x - w / zoom / 2, y - height / zoom / 2, w / zoom, height / zoom];
    }
    if (!show.zoom || !corners.length) return [0, 0, w, height];
    const bounds = [0, 1].map((i) => {
      const step = i ? my : mx, count = i ? height : w;
      let low = Math.min(...corners.map((c) => c[i])) - 15 / step, high = Math.max(...corners.map((c) => c[i])) + 15 / step;
      const lack = 70 / step - (high - low);
      if (lack > 0) { low -= lack / 2; high += lack / 2; }
      return [Math.max(0, Math.floor(low)), Math.min(count, Math.ceil(high))];
    });
    return [bounds[0][0], bounds[1][0], bounds[0][1] - bounds[0][0], bounds[1][1] - bounds[1][0]];
  }

  function move(plane, index) {
    const slices = view.planes[plane].slices;
    let best = slices[0];
    for (const slice of slices) if (Math.abs(slice - index) < Math.abs(best - index)) best = slice;
    at[plane] = best;
  }
  function step(plane, by) {
    const slices = view.planes[plane].slices;
    at[plane] = slices[clamp(slices.indexOf(at[plane]) + by, 0, slices.length - 1)];
    draw(plane);
    if (show.lines) PLANES.forEach((other) => other !== plane && drawMarks(other));
    if (options.moved) options.moved(plane, at[plane], by);
  }

  function makePane(plane) {
    const letters = shared.planes[plane], count = view.shape[letters.through];
    const canvas = h('canvas', { 'aria-hidden': 'true' }), svg = s('svg', { preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    const scale = h('div', { class: 'scale' }), labels = h('div', {});
    const edges = Object.fromEntries(['left', 'right', 'top', 'bottom'].map((side) => [side, h('span', { class: 'edge ' + side }, letters[side])]));
    const stage = h('div', { class: 'stage' }, canvas, svg, labels, Object.values(edges), scale);
    const frame = h('div', { class: 'frame', tabindex: 0, 'data-plane': plane, role: 'group', 'aria-label': plane + ' view; arrow keys change the slice' }, stage);
    const slider = h('input', { type: 'range', min: 0, max: view.planes[plane].slices.length - 1, step: 1, 'aria-label': plane + ' slice' });
    const output = h('output', {});
    const pane = h('div', { class: 'pane' },
      h('div', { class: 'bar-top' }, h('span', view.unoriented ? {} : { title: `embedded: slices ${view.planes[plane].spoken} of ${count}, counted ${ENDS[plane]}` }, h('b', {}, view.unoriented ? 'stored' : plane), ` slices ${view.planes[plane].spoken} of ${count}`),
        h('button', { type: 'button', class: 'grow-btn', 'aria-label': 'enlarge the ' + plane + ' view', onclick: () => { show.main = plane; layout(); } }, 'Enlarge')),
      frame, h('div', { class: 'slide' }, slider, output));
    slider.addEventListener('input', () => { at[plane] = view.planes[plane].slices[Number(slider.value)]; step(plane, 0); });
    let turned = 0;
    frame.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (options.hands && event.ctrlKey) { zoomAt(plane, event.deltaY < 0 ? 1.15 : 1 / 1.15, event); return; }
      turned += event.deltaMode ? event.deltaY * 30 : event.deltaY;
      const notches = Math.trunc(turned / 30);
      if (notches) { turned -= notches * 30; step(plane, -clamp(notches, -3, 3)); }
    }, { passive: false });
    frame.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const jump = options.hands ? 10 : 5, last = view.planes[plane].slices.length;
      const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: jump, PageDown: -jump }[event.key];
      if (options.hands && (event.key === 'Home' || event.key === 'End')) step(plane, event.key === 'End' ? last : -last);
      else if (event.key === 'Home') { at[plane] = view.planes[plane].opening; step(plane, 0); } else if (by) step(plane, by);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    if (options.hands) addHands(plane, stage, frame);
    else windowing.byDrag(stage);
    if (!options.hands) stage.addEventListener('click', (event) => { crosshair(plane, event); frame.focus({ preventScroll: true }); });
    panes[plane] = { pane, frame, stage, canvas, svg, labels, scale, slider, output, count, edges };
    return pane;
  }

  // The picture's coordinates under the pointer.
  function under(plane, event) {
    const box = panes[plane].stage.getBoundingClientRect(), [x0, y0, w, height] = rectOf(plane);
    return [x0 + w * (event.clientX - box.left) / box.width, y0 + height * (event.clientY - box.top) / box.height];
  }
  // Brings the other planes to the point under the pointer.
  function crosshair(plane, event) {
    const [x, y] = under(plane, event), { across, down } = shared.planes[plane];
    PLANES.forEach((other) => {
      const through = shared.planes[other].through;
      if (other !== plane && through === across) move(other, Math.round(isFlipped(plane) ? x - 0.5 : view.shape[across] - 0.5 - x));
      if (other !== plane && through === down) move(other, Math.round(view.shape[down] - 0.5 - y));
    });
    drawAll();
    if (options.moved) PLANES.forEach((other) => other !== plane && options.moved(other, at[other], 0));
  }
  function zoomAt(plane, factor, event) {
    const { w, h: height } = sizeOf(plane), [x, y] = under(plane, event), [x0, y0, rw, rh] = rectOf(plane);
    const zoom = clamp(w / rw * factor, 1, 12), share = [(x - x0) / rw, (y - y0) / rh];
    if (zoom === 1) delete cameras[plane];
    else cameras[plane] = { zoom, x: x + w / zoom * (0.5 - share[0]), y: y + height / zoom * (0.5 - share[1]) };
    fit(plane);
    draw(plane);
  }
  // Left drag moves the crosshair, right drag the window, middle drag the picture; a double click enlarges the plane.
  function addHands(plane, stage, frame) {
    let drag = null, corner = null;
    const draws = () => options.drawing && plane === 'axial' && options.drawing.isOn();
    stage.addEventListener('contextmenu', (event) => event.preventDefault());
    stage.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      frame.focus({ preventScroll: true });
      drag = { button: event.button, x: event.clientX, y: event.clientY };
      stage.setPointerCapture(event.pointerId);
      if (event.button === 0 && draws()) { corner = drawnPoint(plane, event); return; }
      if (event.button === 0) { show.lines = true; crosshair(plane, event); }
    });
    stage.addEventListener('pointermove', (event) => {
      if (!drag) return;
      if (corner) { rubber = boxBetween(plane, corner, drawnPoint(plane, event)); drawMarks(plane); return; }
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (drag.button === 0) crosshair(plane, event);
      if (drag.button === 2) options.window(dx, dy);
      if (drag.button === 1) pan(plane, dx, dy);
      drag.x = event.clientX;
      drag.y = event.clientY;
    });
    const dropped = (isKept) => {
      const box = rubber;
      drag = corner = rubber = null;
      if (isKept && box && box.x1 - box.x0 >= 1 && box.y1 - box.y0 >= 1) options.drawing.done(box);
      if (box) drawMarks(plane);
    };
    stage.addEventListener('pointerup', () => dropped(true));
    stage.addEventListener('pointercancel', () => dropped(false));
    stage.addEventListener('dblclick', () => { show.main = plane; layout(); });
  }
  // A point of the picture as stored: whatever the convention, x runs from the patient's right.
  let rubber = null;
  function drawnPoint(plane, event) {
    const [x, y] = under(plane, event), { w, h: height } = sizeOf(plane);
    return [clamp(isFlipped(plane) ? w - x : x, 0, w), clamp(y, 0, height)];
  }
  const boxBetween = (plane, [x0, y0], [x1, y1]) => ({ frame: at[plane], x0: Math.min(x0, x1), y0: Math.min(y0, y1), x1: Math.max(x0, x1), y1: Math.max(y0, y1) });
  function drawnBoxes(plane, index) {
    const all = [...options.drawing.boxes(), ...(rubber ? [{ ...rubber, kind: 'mine' }] : [])];
    return all.filter((box) => box.frame === index && (box.kind !== 'key' || show.overlay)).map((box) => s('path', { class: 'bx ' + box.kind, d: `M${box.x0} ${box.y0}H${box.x1}V${box.y1}H${box.x0}z` }));
  }
  function pan(plane, dx, dy) {
    const { w, h: height } = sizeOf(plane), [x0, y0, rw, rh] = rectOf(plane), box = panes[plane].stage.getBoundingClientRect();
    cameras[plane] = { zoom: w / rw, x: clamp(x0 + rw / 2 - dx * rw / box.width, 0, w), y: clamp(y0 + rh / 2 - dy * rh / box.height, 0, height) };
    draw(plane);
  }

  function fit(plane) {
    const p = panes[plane], [, , w, height] = rectOf(plane), { mx, my } = sizeOf(plane);
    const room = p.frame.getBoundingClientRect();
    if (!room.width) return;
    const perMm = Math.min(room.width / (w * mx), room.height / (height * my));
    p.perMm = perMm;
    p.stage.style.width = w * mx * perMm + 'px';
    p.stage.style.height = height * my * perMm + 'px';
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    p.canvas.width = Math.max(1, Math.round(w * mx * perMm * ratio));
    p.canvas.height = Math.max(1, Math.round(height * my * perMm * ratio));
    const bar = [200, 100, 50, 20, 10, 5].find((mm) => mm * perMm <= 0.3 * w * mx * perMm) || 2;
    // Without millimetres in the file there is no scale.
    p.scale.replaceChildren(...(view.unoriented ? [] : [bar >= 10 ? bar / 10 + ' cm' : bar + ' mm', h('i', {})]));
    if (p.scale.lastChild) p.scale.lastChild.style.width = bar * perMm + 'px';
  }

  function draw(plane) {
    const p = panes[plane], index = at[plane], rect = rectOf(plane);
    p.slider.value = view.planes[plane].slices.indexOf(index);
    p.output.textContent = `${index + 1}/${p.count}`;
    p.slider.setAttribute('aria-valuetext', `slice ${index + 1} of ${p.count}, ${ENDS[plane]}`);
    const { edges } = p, letters = shared.planes[plane];
    edges.left.textContent = isFlipped(plane) ? letters.right : letters.left;
    edges.right.textContent = isFlipped(plane) ? letters.left : letters.right;
    const paint = (image) => {
      if (at[plane] !== index) return;
      const context = p.canvas.getContext('2d'), [x0, y0, w, height] = rect;
      context.imageSmoothingEnabled = true;
      context.imageSmoothingQuality = 'high';
      context.clearRect(0, 0, p.canvas.width, p.canvas.height);
      context.save();
      if (isFlipped(plane)) { context.translate(p.canvas.width, 0); context.scale(-1, 1); }
      context.drawImage(image, isFlipped(plane) ? sizeOf(plane).w - x0 - w : x0, y0, w, height, 0, 0, p.canvas.width, p.canvas.height);
      context.restore();
    };
    if (options.paint) options.paint(plane, index, paint);
    else imageOf(pictures[plane][index], (image) => { if (at[plane] === index) paint(windowing.shown(plane, image)); });
    drawMarks(plane);
  }

  function drawMarks(plane) {
    const p = panes[plane], rect = rectOf(plane), index = at[plane], { across, down, through } = shared.planes[plane];
    p.svg.setAttribute('viewBox', rect.join(' '));
    const parts = [], labels = [];
    const colour = (place) => ' c' + place % 5;
    const edges = s('g', isFlipped(plane) ? { transform: `translate(${sizeOf(plane).w} 0) scale(-1 1)` } : {});
    view.structures.forEach((name, place) => {
      const path = options.outlines ? options.outlines(plane, index, name) : ((outlines[name] || {})[plane] || {})[index];
      if (path && show.overlay && !show.hidden.has(place)) edges.append(s('path', { class: 'o' + colour(place), d: path }));
    });
    if (options.drawing && plane === 'axial') edges.append(...drawnBoxes(plane, index));
    parts.push(edges);
    if (show.overlay && isShown('boxes')) view.marks.boxes.forEach((box, place) => {
      const cut = boxCut(box.corners, through, index).map((point) => pixel(plane, point));
      if (cut.length > 2) parts.push(s('path', { class: view.boxed ? 'bx asked' : 'bx' + colour(place), d: 'M' + cut.map((c) => c.map((v) => v.toFixed(2)).join(' ')).join('L') + 'z' }));
      if (cut.length > 2 && view.boxed) labels.push([(Math.min(...cut.map((c) => c[0])) + Math.max(...cut.map((c) => c[0]))) / 2, Math.max(...cut.map((c) => c[1])), box.label]);
    });
    if (show.lines) {
      const far = 1e4;
      PLANES.forEach((other) => {
        const axis = shared.planes[other].through;
        if (axis === across) { const x = columnOf(plane, at[other]); parts.push(s('path', { class: 'sl', d: `M${x} ${-far}V${far}` })); }
        if (axis === down) { const y = rowOf(plane, at[other]); parts.push(s('path', { class: 'sl', d: `M${-far} ${y}H${far}` })); }
      });
    }
    if (show.overlay && show.line && view.marks.midline) parts.push(...midline(plane, index));
    if (show.overlay && show.line) for (const mark of view.marks.planes) {
      if (mark.axis === through) continue;
      const other = mark.axis === across ? down : across;
      const step = mark.steps[[0, 1, 2].filter((axis) => axis !== mark.axis).indexOf(other)];
      const ends = [-45, 45].map((mm) => pixel(plane, mark.at.map((v, i) => v + mm * step[i])));
      parts.push(s('path', { class: 'mg', d: `M${ends[0].join(' ')}L${ends[1].join(' ')}` }));
    }
    if (show.overlay && show.line) for (const line of view.marks.lines) {
      const a = pixel(plane, line.end), b = pixel(plane, line.start);
      const d = `M${b[0]} ${b[1]}L${a[0]} ${a[1]}`;
      const off = [line.end, line.start].map((point) => Math.abs(point[through] - index) > 1);
      parts.push(s('path', { class: 'ln-back', d }), s('path', { class: off[0] || off[1] ? 'ln off' : 'ln', d }));
      [[a, line.colours[1], off[0]], [b, line.colours[0], off[1]]].forEach(([point, place, away]) => {
        const spot = `M${point[0]} ${point[1]}h0.001`;
        parts.push(s('path', { class: 'dot' + (away ? ' off' + colour(place) : ''), d: spot }), s('path', { class: 'dot-in' + (away ? ' off' : '') + colour(place), d: spot }));
      });
      const { mx, my } = sizeOf(plane);
      if (Math.hypot((a[0] - b[0]) * mx, (a[1] - b[1]) * my) * (p.perMm || 1) > 46 && line.axis !== through) labels.push([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, line.text]);
    }
    // Marks that the question speaks of are drawn whatever else is hidden.
    for (const [letter, point] of view.asked || []) {
      if (Math.abs(point[through] - index) > 0.5) continue;
      const [x, y] = pixel(plane, point);
      parts.push(s('path', { class: 'dot', d: `M${x} ${y}h0.001` }), s('path', { class: 'dot-in c0', d: `M${x} ${y}h0.001` }));
      // Above the point, which it must not cover.
      labels.push([x, y - 14 / ((p.perMm || 1) * sizeOf(plane).my), letter]);
    }
    p.svg.replaceChildren(...parts);
    p.labels.replaceChildren(...labels.map(([x, y, text]) => {
      const label = h('span', { class: 'label' }, text);
      label.style.left = 100 * (x - rect[0]) / rect[2] + '%';
      label.style.top = 100 * (y - rect[1]) / rect[3] + '%';
      return label;
    }));
  }

  function midline(plane, index) {
    const { points, front } = view.marks.midline;
    if (plane !== 'axial') return [s('path', { class: 'md', d: 'M' + points.map((point) => pixel(plane, point).map((v) => v.toFixed(1)).join(' ')).join('L') })];
    for (let i = 1; i < points.length; i++) {
      const [low, high] = [points[i - 1], points[i]];
      if ((low[2] - index) * (high[2] - index) > 0) continue;
      const share = (index - low[2]) / (high[2] - low[2] || 1);
      const here = low.map((v, axis) => v + share * (high[axis] - v));
      const ends = [-600, 600].map((mm) => pixel(plane, here.map((v, axis) => v + mm * front[axis])));
      return [s('path', { class: 'md', d: `M${ends[0].join(' ')}L${ends[1].join(' ')}` })];
    }
    return [];
  }

  // Where the plane index = n cuts the twelve edges of a box, in order round the cut.
  function boxCut(corners, axis, n) {
    const cut = [];
    for (let a = 0; a < 8; a++) for (const bit of [1, 2, 4]) {
      const b = a | bit;
      if (b === a) continue;
      const p = corners[a], q = corners[b], u = p[axis] - n, v = q[axis] - n;
      if (u * v < 0) cut.push(p.map((value, i) => value + (q[i] - value) * (u / (u - v))));
    }
    if (cut.length < 3) return [];
    const [i, j] = [0, 1, 2].filter((other) => other !== axis);
    const mid = [i, j].map((k) => cut.reduce((sum, point) => sum + point[k], 0) / cut.length);
    return cut.sort((p, q) => Math.atan2(p[j] - mid[1], p[i] - mid[0]) - Math.atan2(q[j] - mid[1], q[i] - mid[0]));
  }

  const drawAll = () => PLANES.forEach(draw);
  // Once a frame, however often a drag is told.
  let isPlanned = false;
  function drawSoon() {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => { isPlanned = false; drawAll(); });
  }
  function layout() {
    const main = show.main || preferred();
    PLANES.forEach((plane) => panes[plane].pane.classList.toggle('main', plane === main));
    refit();
  }
  // A step up or down is not seen in an axial view.
  function preferred() {
    return [...view.marks.lines, ...view.marks.planes].some((mark) => mark.axis === 2) ? 'coronal' : 'axial';
  }
  const refit = () => { PLANES.forEach(fit); drawAll(); };

  const isShown = (key) => key === 'boxes' ? show.boxes ?? view.boxed : show[key];
  const toggle = (words, key, title) => {
    const button = h('button', { type: 'button', class: 'tool', 'aria-pressed': String(isShown(key)), title, onclick: () => {
      show[key] = !isShown(key);
      button.setAttribute('aria-pressed', String(show[key]));
      refit();
    } }, words);
    return button;
  };
  const chips = view.structures.map((name, place) => {
    const subject = subjects.find((entry) => entry.structure === name) || { plain: name };
    const box = h('input', { type: 'checkbox', onchange: () => { show.hidden[box.checked ? 'delete' : 'add'](place); drawAll(); } });
    box.checked = !show.hidden.has(place);
    const jump = () => { PLANES.forEach((plane) => move(plane, view.planes[plane].jumps[place])); drawAll(); };
    return h('span', { class: 'chip' },
      h('label', { title: 'outline of the mask, to the voxel' }, box, h('span', { class: 'key-line c' + place % 5 }), subject.plain + (subject.volume ? ', ' + subject.volume : '')),
      h('button', { type: 'button', class: 'jump', title: 'go to the slices that show it best', onclick: jump, 'aria-label': 'go to ' + subject.plain }, 'Go to'));
  });
  // Marks are listed alike, in the order of their letters: going to one tells nothing but where it is drawn.
  const goToMark = (number) => {
    const [, point] = view.asked[number];
    PLANES.forEach((plane) => {
      move(plane, Math.round(point[shared.planes[plane].through]));
      if (options.moved) options.moved(plane, at[plane], 0);
    });
    drawAll();
  };
  const spots = (view.asked || []).map(([letter], number) => h('button', { type: 'button', class: 'tool', title: 'go to the slices that show this mark', onclick: () => goToMark(number) }, 'Go to mark ' + letter));
  const hasLine = view.marks.lines.length || view.marks.planes.length || view.marks.midline;
  const toolbar = h('div', { class: 'toolbar', role: 'group', 'aria-label': 'What is drawn over the pictures' }, spots, chips,
    view.marks.boxes.length ? toggle('Boxes', 'boxes', view.boxed ? 'the box that is asked for' : 'boxes of the structures') : null,
    hasLine ? toggle(view.marks.midline ? 'Midline' : view.marks.lines.length ? 'Measured line' : 'Measured height', 'line', 'what was measured') : null,
    toggle('Slice lines', 'lines', 'where the other two views cut'),
    view.marks.boxes.length || !options.hands ? toggle('Zoom', 'zoom', 'show only the structures and 15 mm around them') : null,
    windowing ? windowing.node : null);
  PLANES.forEach((plane) => { grid.append(makePane(plane)); at[plane] = view.planes[plane].opening; move(plane, at[plane]); });
  new ResizeObserver(refit).observe(grid);
  requestAnimationFrame(layout);

  const words = [options.hands ? 'Not for diagnosis.' : '', options.hands ? '' : "Radiological view: the patient's right is on the picture's left."];
  const kinds = { centres: 'between the two centres', gap: 'between the nearest points of the two surfaces', extent: 'from end to end along the patient axis' };
  const [line] = view.marks.lines, [rule] = view.marks.planes;
  if (view.boxed && view.marks.boxes.length) words.push(`Green box: ${view.marks.boxes[0].label}.`);
  if (line) words.push(`White line: ${kinds[line.kind]}, projected on each plane; dashed, with hollow ends, where it leaves the slice.`);
  if (rule) words.push(`Dotted: ${rule.text}.`);
  if (view.marks.midline) words.push(`Yellow dashes: ${view.marks.midline.text}.`);
  if (!options.hands) words.push('Scroll, drag the slider or use arrow keys to change slices; click a point to bring the other views to it; drag over a picture to change its window (sideways the width, up and down the level).');
  const viewer = h('div', { class: 'viewer' }, toolbar, grid, h('p', { class: 'caption' }, words.join(' ').trim()));
  if (options.hands) viewer.controls = { show, at, panes, cameras, step, move, goToMark, drawAll, refit, layout, pixel, rectOf, draw, drawMarks };
  return viewer;
}
