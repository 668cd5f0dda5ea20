// Pictures that hold more than one window: a scale (`values` and `levels`, rising) says which intensity each grey level is.
function intensityOf(scale, level) {
  const { values, levels } = scale;
  let n = 1;
  while (n < levels.length - 1 && level > levels[n]) n++;
  return values[n - 1] + (level - levels[n - 1]) * (values[n] - values[n - 1]) / (levels[n] - levels[n - 1]);
}
// The grey on the screen of each of the 256 levels: black at `low`, white at `high`.
function greyTable(scale, low, high) {
  const table = new Uint8ClampedArray(256);
  for (let level = 0; level < 256; level++) table[level] = 255 * (intensityOf(scale, level) - low) / (high - low);
  return table;
}
// Sideways is width, up is brighter.
function draggedWindow(low, high, dx, dy) {
  const width = high - low, level = (high + low) / 2;
  const wide = Math.max(width * (1 + dx / 250), width * 0.05, 1e-6), middle = level + dy * width / 400;
  return [middle - wide / 2, middle + wide / 2];
}

// A picture once it is decoded; those seen lately are at hand.
const images = new Map();

function imageOf(uri, ready) {
  let image = images.get(uri);
  if (!image) {
    if (images.size > 600) images.clear();
    image = new Image();
    image.src = uri;
    images.set(uri, image);
  }
  if (image.complete && image.naturalWidth) ready(image);
  else image.addEventListener('load', () => ready(image), { once: true });
}

// The window of some pictures: a list to choose from, level and width as numbers, and both by drag; `changed` redraws.
function makeWindowing(scale, changed) {
  const round = (value) => Number(value.toPrecision(Math.abs(value) >= 100 ? 4 : 3));
  const sheets = {};
  let [, low, high] = scale.windows[scale.opening], table = greyTable(scale, low, high);
  const choice = h('select', { 'aria-label': 'Window' }, scale.windows.map(([name], n) => h('option', { value: n }, name)), h('option', { value: '', disabled: true }, 'own'));
  const number = (label) => h('input', { type: 'number', step: 'any', 'aria-label': `window ${label}` });
  const level = number('level'), width = number('width');
  function set(black, white) {
    [low, high] = [black, white];
    table = greyTable(scale, low, high);
    tell();
    changed();
  }
  function tell() {
    const known = scale.windows.findIndex(([, a, b]) => a === low && b === high);
    choice.value = known < 0 ? '' : String(known);
    level.value = round((low + high) / 2);
    width.value = round(high - low);
  }
  const typed = () => {
    const middle = Number(level.value), wide = Number(width.value);
    if (level.value !== '' && wide > 0) set(middle - wide / 2, middle + wide / 2);
  };
  let isPointed = false;
  choice.addEventListener('pointerdown', () => { isPointed = true; });
  choice.addEventListener('keydown', () => { isPointed = false; });
  // Chosen with the mouse, the list lets go of the keys, which pages use.
  choice.addEventListener('change', () => { set(...scale.windows[Number(choice.value)].slice(1)); if (isPointed) choice.blur(); });
  level.addEventListener('change', typed);
  width.addEventListener('change', typed);
  tell();
  // The picture as it looks in the window now; one sheet for each name, drawn over by its next picture.
  function shown(name, image) {
    const w = image.naturalWidth, height = image.naturalHeight;
    let sheet = sheets[name];
    if (!sheet || sheet.canvas.width !== w || sheet.canvas.height !== height) {
      const canvas = h('canvas', { width: w, height });
      sheet = sheets[name] = { canvas, context: canvas.getContext('2d', { willReadFrequently: true }), image: null, levels: null };
    }
    if (sheet.image !== image) {
      sheet.context.drawImage(image, 0, 0);
      sheet.levels = sheet.context.getImageData(0, 0, w, height);
      sheet.painted = sheet.context.createImageData(w, height);
      sheet.image = image;
    }
    const from = sheet.levels.data, to = sheet.painted.data;
    for (let n = 0; n < from.length; n += 4) {
      to[n] = table[from[n]];
      to[n + 1] = table[from[n + 1]];
      to[n + 2] = table[from[n + 2]];
      to[n + 3] = 255;
    }
    sheet.context.putImageData(sheet.painted, 0, 0);
    return sheet.canvas;
  }
  // Mouse or pen: a drag changes the window, a click stays a click. Fingers scroll the page.
  function byDrag(stage, isFree = () => true) {
    let drag = null, wasDragged = false;
    stage.addEventListener('pointerdown', (event) => {
      wasDragged = false;
      if (event.pointerType === 'touch' || event.button === 1 || !isFree(event)) return;
      drag = { x: event.clientX, y: event.clientY };
    });
    stage.addEventListener('pointermove', (event) => {
      if (!drag) return;
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!wasDragged && Math.hypot(dx, dy) < 4) return;
      if (!wasDragged) stage.setPointerCapture(event.pointerId);
      wasDragged = true;
      set(...draggedWindow(low, high, dx, dy));
      drag = { x: event.clientX, y: event.clientY };
    });
    const dropped = () => { drag = null; };
    stage.addEventListener('pointerup', dropped);
    stage.addEventListener('pointercancel', dropped);
    stage.addEventListener('click', (event) => { if (wasDragged) { wasDragged = false; event.stopImmediatePropagation(); } }, true);
    stage.addEventListener('contextmenu', (event) => { if (wasDragged) event.preventDefault(); });
  }
  const node = h('span', { class: 'windowing', role: 'group', 'aria-label': 'Window of the pictures' },
    h('label', {}, 'Window ', choice), h('label', {}, 'L ', level), h('label', {}, 'W ', width), scale.unit ? h('span', {}, scale.unit) : null);
  return { node, shown, byDrag, set };
}
