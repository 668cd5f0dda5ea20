const data = JSON.parse(byId('payload').textContent);
const { quiz, items } = data;
const verifying = quiz.mode === 'verify';
const store = 'situs-quiz:' + quiz.bench_hash + ':' + quiz.mode + ':' + quiz.seed + ':' + quiz.profile.name + ':' + items.length;
const answers = new Map();
let place = 0, opened = Date.now(), viewer = null;

const MARKS = verifying
  ? [['agree', 'Agree', '1'], ['disagree', 'Disagree', '2'], ['unsure', 'Unsure', '3'], ['not_visible', 'Not visible', '4']]
  : [['unsure', 'Unsure', '3'], ['not_visible', 'Not visible', '4']];

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(store) || 'null');
    if (!kept) return;
    byId('reader').value = kept.reader || '';
    for (const answer of kept.answers) answers.set(answer.item_id, answer);
    place = clamp(Math.trunc(Number(kept.place) || 0), 0, items.length - 1);
  } catch { /* some browsers keep nothing for local files */ }
}
function keep() {
  try { localStorage.setItem(store, JSON.stringify({ reader: byId('reader').value, place, answers: [...answers.values()] })); } catch { /* as above */ }
  const done = items.filter((item) => answers.get(item.item_id)?.state).length;
  byId('progress').max = items.length;
  byId('progress').value = done;
  byId('done').textContent = `${done} of ${items.length} done`;
  byId('export').disabled = !done;
}
function record(item) {
  if (!answers.has(item.item_id)) answers.set(item.item_id, { item_id: item.item_id, state: '', said: {}, parts: {}, comment: '', seconds: 0 });
  return answers.get(item.item_id);
}
function leave() {
  const item = items[place], answer = answers.get(item.item_id);
  if (answer) answer.seconds = Math.round(10 * (answer.seconds + (Date.now() - opened) / 1000)) / 10;
  opened = Date.now();
  keep();
}
function go(to) {
  leave();
  place = clamp(to, 0, items.length - 1);
  show();
}

// Pictures of one item. Wheel and arrows change the picture; a drag changes the window, or draws where boxes are asked for
// (the right button still changes the window); Ctrl and wheel, the buttons or + and − zoom; Shift and drag, or a finger on a
// zoomed picture, move it.
const ZOOMS = [1, 1.5, 2, 3, 4, 6, 8];
function makeViewer(item) {
  const count = item.pictures.length, boxes = item.key ? item.key.boxes || [] : [], frames = item.key ? item.key.frames || [] : [];
  let at = boxes.length ? boxes[0][0] : frames.length ? frames[0] : item.opening ?? Math.floor((count - 1) / 2), start = null, drawnBy = null;
  let zoom = 1, middle = [0.5, 0.5], grip = null, isPlanned = false;
  const canvas = h('canvas', { role: 'img' }), svg = s('svg', { preserveAspectRatio: 'none' });
  const layer = h('div', { class: 'layer' }, canvas, svg);
  const stage = h('div', { class: 'stage', tabindex: 0, role: 'group', 'aria-label': 'Pictures; arrow keys change the picture' }, layer);
  const slider = h('input', { type: 'range', min: 0, max: count - 1, 'aria-label': 'picture' }), output = h('output', {});
  const windowing = makeWindowing(data.scales[item.scale], () => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => { isPlanned = false; redraw(); });
  });
  const size = () => item.sizes[at];
  const point = (event) => {
    const room = layer.getBoundingClientRect();
    return [clamp((event.clientX - room.left) / room.width, 0, 1) * size()[0], clamp((event.clientY - room.top) / room.height, 0, 1) * size()[1]];
  };
  const rect = ([x0, y0], [x1, y1]) => ({ frame: at, x0: Math.min(x0, x1), y0: Math.min(y0, y1), x1: Math.max(x0, x1), y1: Math.max(y0, y1) });
  const path = (box, cls) => s('path', { class: cls, d: `M${box.x0} ${box.y0}H${box.x1}V${box.y1}H${box.x0}z` });
  const self = { at: () => at, drawn: () => [], redraw, step: (by) => { at = clamp(at + by, 0, count - 1); redraw(); }, zoomBy, onDrawn: (done) => { drawnBy = done; stage.classList.add('drawing'); } };
  function redraw(rubber) {
    const [width, height] = size(), index = at;
    imageOf(data.pictures[item.pictures[at]], (image) => {
      if (at !== index) return;
      canvas.width = width;
      canvas.height = height;
      canvas.getContext('2d').drawImage(windowing.shown('quiz', image), 0, 0);
    });
    canvas.setAttribute('aria-label', `picture ${at + item.frame_base} of ${count}`);
    stage.style.aspectRatio = `${width} / ${height}`;
    stage.style.width = `min(100%, ${(70 * width) / height}vh)`;
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.replaceChildren(...boxes.filter((box) => box[0] === at).map(([, x0, y0, x1, y1]) => path({ x0, y0, x1, y1 }, 'key')),
      ...self.drawn().filter((box) => box.frame === at).map((box) => path(box, 'mine')), ...(rubber ? [path(rubber, 'mine rubber')] : []));
    slider.value = at;
    output.textContent = `${at + item.frame_base} of ${count}${frames.includes(at) ? ' (in the key)' : ''}`;
  }
  // `middle` is the point of the picture, in shares of it, that stands in the middle of the stage.
  function look() {
    middle = middle.map((share) => clamp(share, 0.5 / zoom, 1 - 0.5 / zoom));
    layer.style.transform = `translate(${100 * zoom * (0.5 - middle[0])}%, ${100 * zoom * (0.5 - middle[1])}%) scale(${zoom})`;
    stage.classList.toggle('zoomed', zoom > 1);
    shown.textContent = `${Math.round(100 * zoom)} %`;
  }
  function zoomBy(by, event) {
    const before = zoom;
    zoom = ZOOMS[clamp(ZOOMS.indexOf(zoom) + by, 0, ZOOMS.length - 1)];
    if (event) {
      const room = stage.getBoundingClientRect();
      const away = [(event.clientX - room.left) / room.width - 0.5, (event.clientY - room.top) / room.height - 0.5];
      middle = middle.map((share, n) => share + away[n] / before - away[n] / zoom);
    }
    look();
  }
  const shown = h('output', { class: 'zoom' }, '100 %');
  const button = (words, label, by) => h('button', { type: 'button', 'aria-label': label, onclick: () => zoomBy(by) }, words);
  const tools = h('div', { class: 'tools' }, windowing.node, h('span', { class: 'zooming', role: 'group', 'aria-label': 'Zoom' }, button('−', 'smaller', -1), shown, button('+', 'larger', 1)));
  slider.addEventListener('input', () => { at = Number(slider.value); redraw(); });
  stage.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (event.ctrlKey) zoomBy(event.deltaY < 0 ? 1 : -1, event);
    else self.step(Math.sign(event.deltaY));
  }, { passive: false });
  const moves = (event) => zoom > 1 && (event.shiftKey || event.button === 1 || (event.pointerType === 'touch' && !drawnBy));
  windowing.byDrag(stage, (event) => !moves(event) && (event.button === 2 || !drawnBy));
  stage.addEventListener('pointerdown', (event) => {
    if (moves(event)) grip = [event.clientX, event.clientY];
    else if (drawnBy && event.button === 0) start = point(event);
    else return;
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener('pointermove', (event) => {
    if (start) redraw(rect(start, point(event)));
    if (!grip) return;
    const room = stage.getBoundingClientRect();
    middle = [middle[0] - (event.clientX - grip[0]) / room.width / zoom, middle[1] - (event.clientY - grip[1]) / room.height / zoom];
    grip = [event.clientX, event.clientY];
    look();
  });
  stage.addEventListener('pointercancel', () => { start = grip = null; redraw(); });
  stage.addEventListener('pointerup', (event) => {
    grip = null;
    if (!start) return;
    const box = rect(start, point(event));
    start = null;
    if (box.x1 - box.x0 >= 2 && box.y1 - box.y0 >= 2) drawnBy(box);
    else redraw();
  });
  self.node = h('div', { class: 'viewer' }, stage, count > 1 ? h('div', { class: 'slide' }, slider, output) : null, tools);
  redraw();
  return self;
}

function show() {
  const item = items[place], answer = record(item);
  viewer = makeViewer(item);
  const marks = MARKS.map(([state, words, key]) => h('button', { type: 'button', class: 'verdict', 'data-key': key, 'aria-pressed': String(answer.state === state), onclick: () => {
    answer.state = answer.state === state ? '' : state;
    if (!verifying) { answer.said = {}; answer.parts = {}; answer.given = {}; }
    keep();
    show();
  } }, h('kbd', {}, key), words));
  const state = () => document.querySelectorAll('.verdict').forEach((button, n) => button.setAttribute('aria-pressed', String(answer.state === MARKS[n][0])));
  const parts = verifying ? [] : item.parts.map((part) => {
    const said = part.name ? (answer.parts[part.name] = answer.parts[part.name] || {}) : answer.said;
    const changed = (given) => {
      answer.given = { ...(answer.given || {}), [part.name]: given };
      answer.state = item.parts.some((one) => answer.given[one.name]) ? 'answered' : '';
      state();
      keep();
    };
    return h('fieldset', {}, item.parts.length > 1 ? h('legend', {}, part.name) : null, partControl(item, part, said, changed, viewer));
  });
  const comment = h('input', { type: 'text', 'aria-label': 'Comment', placeholder: 'Comment (optional)', autocomplete: 'off' });
  comment.value = answer.comment;
  comment.addEventListener('input', () => { answer.comment = comment.value; keep(); });
  const optionsTold = verifying && item.options.length ? h('ul', { class: 'told' }, item.options.map(([letter, text]) => h('li', {}, `${letter}. ${text}`))) : null;
  byId('item').replaceChildren(...[
    h('p', { class: 'where' }, `Item ${place + 1} of ${items.length} `, h('code', {}, item.item_id)),
    viewer.node,
    h('div', { class: 'ask' }, item.intro ? h('p', { class: 'intro' }, item.intro) : null, h('h2', {}, item.question), optionsTold,
      item.key ? h('p', { class: 'key-words' }, h('b', {}, 'Key: '), item.key.words) : null, parts,
      h('div', { class: 'verdicts', role: 'group', 'aria-label': verifying ? 'Is the key right?' : 'If you cannot answer' }, marks), comment),
  ]);
  byId('previous').disabled = place === 0;
  byId('next').disabled = place === items.length - 1;
  // The address names the item, so that a reload and a copied link open here even where the browser keeps nothing.
  history.replaceState(null, '', '#' + encodeURIComponent(item.item_id));
  keep();
}

byId('previous').addEventListener('click', () => go(place - 1));
byId('next').addEventListener('click', () => go(place + 1));
byId('reader').addEventListener('input', keep);
byId('export').addEventListener('click', () => {
  const reader = byId('reader').value.trim();
  if (!/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}$/.test(reader)) {
    byId('message').textContent = 'Give a name of letters and digits first.';
    byId('reader').focus();
    return;
  }
  leave();
  const done = items.map((item) => answers.get(item.item_id)).filter((answer) => answer && answer.state).map(({ item_id, state, said, parts, comment, seconds }) => ({ item_id, state, said, parts, comment, seconds }));
  const text = JSON.stringify({ quiz, reader, answers: done }, null, 1);
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type: 'application/json' })), download: `${quiz.mode === 'verify' ? 'verdicts' : 'answers'}-${reader.replace(/[^A-Za-z0-9._-]/g, '-')}.json` });
  document.body.append(link);
  link.click();
  link.remove();
  byId('message').textContent = done.length < items.length ? `Saved. ${items.length - done.length} items are still open.` : 'Saved.';
});
document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
  const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 }[event.key];
  if (by && event.target.type !== 'range') { viewer.step(by); event.preventDefault(); return; }
  if (event.key === '+' || event.key === '=' || event.key === '-') { viewer.zoomBy(event.key === '-' ? -1 : 1); event.preventDefault(); return; }
  if (event.key === 'Enter' && event.target.tagName !== 'BUTTON' && event.target.tagName !== 'SUMMARY') { go(place + (event.shiftKey ? -1 : 1)); event.preventDefault(); return; }
  const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) { button.click(); event.preventDefault(); }
});
// A sheet of an audit links to single items.
function goToLinked() {
  const linked = items.findIndex((item) => item.item_id === decodeURIComponent(location.hash.slice(1)));
  if (linked >= 0) place = linked;
  return linked >= 0;
}
load();
goToLinked();
show();
window.addEventListener('hashchange', () => { leave(); if (goToLinked()) show(); });
