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
  } catch { /* some browsers keep nothing for local files */ }
}
function keep() {
  try { localStorage.setItem(store, JSON.stringify({ reader: byId('reader').value, answers: [...answers.values()] })); } catch { /* as above */ }
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

function makeViewer(item) {
  const count = item.pictures.length, boxes = item.key ? item.key.boxes || [] : [], frames = item.key ? item.key.frames || [] : [];
  let at = boxes.length ? boxes[0][0] : frames.length ? frames[0] : Math.floor((count - 1) / 2), start = null, drawnBy = null;
  const image = h('img', { alt: '', draggable: 'false' }), svg = s('svg', { preserveAspectRatio: 'none' });
  const stage = h('div', { class: 'stage', tabindex: 0, role: 'group', 'aria-label': 'Pictures; arrow keys change the picture' }, image, svg);
  const slider = h('input', { type: 'range', min: 0, max: count - 1, 'aria-label': 'picture' }), output = h('output', {});
  const size = () => item.sizes[at];
  const point = (event) => {
    const room = stage.getBoundingClientRect();
    return [clamp((event.clientX - room.left) / room.width, 0, 1) * size()[0], clamp((event.clientY - room.top) / room.height, 0, 1) * size()[1]];
  };
  const rect = ([x0, y0], [x1, y1]) => ({ frame: at, x0: Math.min(x0, x1), y0: Math.min(y0, y1), x1: Math.max(x0, x1), y1: Math.max(y0, y1) });
  const path = (box, cls) => s('path', { class: cls, d: `M${box.x0} ${box.y0}H${box.x1}V${box.y1}H${box.x0}z` });
  const self = { at: () => at, drawn: () => [], redraw, step: (by) => { at = clamp(at + by, 0, count - 1); redraw(); }, onDrawn: (done) => { drawnBy = done; stage.classList.add('drawing'); } };
  function redraw(rubber) {
    const [width, height] = size();
    image.src = data.pictures[item.pictures[at]];
    image.alt = `picture ${at + item.frame_base} of ${count}`;
    stage.style.aspectRatio = `${width} / ${height}`;
    stage.style.width = `min(100%, ${(70 * width) / height}vh)`;
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.replaceChildren(...boxes.filter((box) => box[0] === at).map(([, x0, y0, x1, y1]) => path({ x0, y0, x1, y1 }, 'key')),
      ...self.drawn().filter((box) => box.frame === at).map((box) => path(box, 'mine')), ...(rubber ? [path(rubber, 'mine rubber')] : []));
    slider.value = at;
    output.textContent = `${at + item.frame_base} of ${count}${frames.includes(at) ? ' (in the key)' : ''}`;
  }
  slider.addEventListener('input', () => { at = Number(slider.value); redraw(); });
  stage.addEventListener('wheel', (event) => { event.preventDefault(); self.step(Math.sign(event.deltaY)); }, { passive: false });
  stage.addEventListener('pointerdown', (event) => { if (drawnBy) { start = point(event); stage.setPointerCapture(event.pointerId); } });
  stage.addEventListener('pointermove', (event) => { if (start) redraw(rect(start, point(event))); });
  stage.addEventListener('pointerup', (event) => {
    if (!start) return;
    const box = rect(start, point(event));
    start = null;
    if (box.x1 - box.x0 >= 2 && box.y1 - box.y0 >= 2) drawnBy(box);
    else redraw();
  });
  self.node = h('div', { class: 'viewer' }, stage, count > 1 ? h('div', { class: 'slide' }, slider, output) : null);
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
  if (event.key === 'Enter' && event.target.tagName !== 'BUTTON' && event.target.tagName !== 'SUMMARY') { go(place + (event.shiftKey ? -1 : 1)); event.preventDefault(); return; }
  const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) { button.click(); event.preventDefault(); }
});
load();
show();
