// Runs that are watched: a table that follows them, the items of one, and each item as the report shows it.
import { byId, h, makeDetail, markOf } from './viewer.js';

const EVERY_MS = 2000;
const STATES = ['answered', 'refused', 'failed', 'not asked yet'];
const MARKS = ['r', 'w', 'u', 'f', 'x', 'n', 'j', 's'];
const SVG = document.querySelector('svg').namespaceURI;
let runs = [], chosen = null, rows = [], matching = 0, item = null;

async function get(path) {
  const reply = await fetch(path, { cache: 'no-store' });
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.problem || reply.statusText);
  return body;
}
const count = (value) => Math.round(value).toLocaleString('en');
const total = (states) => Object.values(states).reduce((sum, n) => sum + n, 0);
const money = (cost) => cost === null ? 'price unknown' : cost === 0 ? 'no cost' : '$' + cost.toFixed(cost < 1 ? 4 : 2);

function ago(seconds) {
  const past = Date.now() / 1000 - seconds;
  if (past < 90) return 'just now';
  if (past < 5400) return `${Math.round(past / 60)} min ago`;
  if (past < 129600) return `${Math.round(past / 3600)} h ago`;
  return `${Math.round(past / 86400)} days ago`;
}

function bar(run) {
  const picture = document.createElementNS(SVG, 'svg');
  picture.setAttribute('viewBox', `0 0 ${Math.max(run.items, 1)} 1`);
  picture.setAttribute('preserveAspectRatio', 'none');
  picture.setAttribute('aria-hidden', 'true');
  let from = 0;
  for (const state of ['answered', 'refused', 'failed']) {
    const part = document.createElementNS(SVG, 'rect');
    for (const [name, value] of [['x', from], ['width', run.states[state] || 0], ['height', 1], ['class', state]]) part.setAttribute(name, value);
    picture.append(part);
    from += run.states[state] || 0;
  }
  return picture;
}

function costCell(run) {
  const tokens = run.tokens.prompt + run.tokens.completion;
  return tokens ? [money(run.cost), h('small', {}, `${count(tokens)} tokens`)] : '–';
}

function stateWords(run) {
  const others = Object.entries(run.states).filter(([state]) => state !== 'answered').map(([state, n]) => `${count(n)} ${state}`);
  return [`${count(total(run.states))} of ${count(run.items)}`, ...others].join(', ');
}

function runRow(run) {
  const open = () => { location.hash = run.key; };
  const name = h('th', { scope: 'row' }, h('a', { href: '#' + run.key }, breakable(run.folder)), run.problem ? h('small', { class: 'problem' }, run.problem) : h('small', {}, run.model, run.withheld ? ', without pictures' : ''));
  if (run.problem) return h('tr', {}, name, h('td', { colspan: 5 }));
  return h('tr', { onclick: open }, name,
    h('td', {}, h('div', { class: 'progress' }, bar(run), h('span', {}, stateWords(run)))),
    h('td', {}, run.bench, h('small', {}, run.room ? `room ${run.room}` : `profile ${run.profile}`)),
    h('td', { class: 'num' }, costCell(run)),
    h('td', { class: 'num' }, run.call_seconds === null ? '–' : run.call_seconds.toFixed(1) + ' s'),
    h('td', {}, run.live ? h('span', { class: 'live' }, '● running') : total(run.states) < run.items ? 'stopped' : 'done', h('small', {}, ago(run.updated))));
}

// A path is broken between its folders, on a narrow screen.
const breakable = (path) => path.split('/').flatMap((folder, place) => (place ? ['/', h('wbr', {}), folder] : [folder]));

// What did not change stays: renewed every second, a link would be gone while it is clicked, and so would a keyboard's focus.
function renew(place, fresh) {
  const made = h('div', {}, fresh);
  if (made.innerHTML === place.innerHTML) return;
  const at = [...place.querySelectorAll('a, button')].indexOf(document.activeElement);
  place.replaceChildren(...made.childNodes);
  if (at >= 0) place.querySelectorAll('a, button')[at]?.focus();
}

function showRuns() {
  const head = ['Run', 'Progress', 'Bench', 'Cost', 'Time per call', 'State'];
  renew(byId('runs'), runs.length
    ? h('div', { class: 'scroll' }, h('table', { class: 'runs' }, h('thead', {}, h('tr', {}, head.map((word) => h('th', { scope: 'col', class: ['Cost', 'Time per call'].includes(word) ? 'num' : null }, word)))), h('tbody', {}, runs.map(runRow))))
    : h('p', { class: 'note' }, 'No runs here yet. situs run BENCH --model SPEC --out FOLDER makes one; this page finds it by itself.'));
  const running = runs.filter((run) => run.live).length;
  byId('status').textContent = `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}, ${running} running`;
}

function fillSelect(select, entries) {
  const before = select.value;
  select.replaceChildren(...entries.map(([value, words]) => h('option', { value }, words)));
  if (entries.some(([value]) => value === before)) select.value = before;
}

async function loadItems(after) {
  const key = chosen;
  const query = new URLSearchParams({ after, words: byId('f-words').value, task: byId('f-task').value, state: byId('f-state').value, mark: byId('f-mark').value });
  const page = await get(`api/runs/${key}/items?${query}`);
  if (key !== chosen) return;
  rows = after ? [...rows, ...page.rows] : page.rows;
  matching = page.matching;
  fillSelect(byId('f-task'), [['', 'all'], ...page.tasks.map((task) => [task, task])]);
  showItems();
}

function showItems() {
  byId('count').textContent = `${count(matching)} ${matching === 1 ? 'item' : 'items'}`;
  renew(byId('items'), rows.map((row) => h('li', { 'data-item': row.item_id }, h('button', { type: 'button', 'aria-current': String(row.item_id === item), onclick: () => { location.hash = `${chosen}/${row.item_id}`; } },
    h('span', {}, row.question),
    h('span', { class: 'meta' }, h('span', {}, `${row.task}, ${row.state}`), h('span', { class: 'mark ' + row.mark, title: markOf(row.mark)[1] }, markOf(row.mark)[0]))))));
  byId('more').hidden = rows.length >= matching;
}

function neighbour(step) {
  const place = rows.findIndex((row) => row.item_id === item) + step;
  if (rows[place]) location.hash = `${chosen}/${rows[place].item_id}`;
}

async function showItem() {
  const wanted = item, pane = byId('detail');
  pane.replaceChildren(h('p', { class: 'note' }, 'Loading …'));
  const { payload, prompt, error, finish_reason: ended, usage } = await get(`api/runs/${chosen}/items/${encodeURIComponent(wanted)}`);
  if (wanted !== item) return;
  const tokens = Object.entries(usage).map(([name, n]) => `${count(n)} ${name.replace(/[_.]/g, ' ')}`).join(', ');
  pane.replaceChildren(...makeDetail(payload, payload.rows[0], neighbour, (id) => { location.hash = `${chosen}/${id}`; }).filter(Boolean),
    ...(prompt ? [h('h4', {}, 'What was sent'), h('p', { class: 'sent', tabindex: 0 }, prompt)] : []),
    ...(error ? [h('h4', {}, 'Error'), h('p', { class: 'sent' }, error)] : []),
    h('p', { class: 'note' }, [ended ? `ended by: ${ended}` : '', tokens].filter(Boolean).join(' · ')));
  showItems();
}

async function follow() {
  const [key, id] = location.hash.slice(1).split('/');
  const other = key !== chosen;
  chosen = key || null;
  item = id || null;
  byId('runs').hidden = Boolean(chosen);
  byId('run').hidden = !chosen;
  if (!chosen) return;
  const run = runs.find((one) => one.key === chosen);
  byId('run-name').textContent = run ? run.folder : 'This run is gone';
  byId('run-state').textContent = run ? `${run.model}, ${stateWords(run)}` : '';
  byId('run-problem').hidden = true;
  byId('browser').hidden = false;
  if (run && run.problem) { showProblem(run.problem); return; }
  if (other) { rows = []; showItems(); byId('detail').replaceChildren(h('p', { class: 'note' }, 'Choose an item.')); await loadItems(0); }
  if (item) await showItem();
}

// What cannot be read is said where it would have stood, in one line.
function showProblem(words) {
  byId('run-problem').textContent = words;
  byId('run-problem').hidden = false;
  byId('run-state').textContent = '';
  byId('browser').hidden = true;
}
const told = (error) => { byId('status').textContent = error.message; if (chosen) byId('detail').replaceChildren(h('p', { class: 'nopic' }, error.message)); };
const guarded = (work) => () => work().catch(told);

async function look() {
  const before = JSON.stringify(runs.find((run) => run.key === chosen) || null);
  runs = await get('api/runs');
  showRuns();
  const run = runs.find((one) => one.key === chosen);
  if (run && JSON.stringify(run) !== before && before !== 'null') {
    byId('run-state').textContent = `${run.model}, ${stateWords(run)}`;
    if (rows.length <= 200) await loadItems(0);
  }
}

fillSelect(byId('f-state'), [['', 'all'], ...STATES.map((state) => [state, state])]);
fillSelect(byId('f-mark'), [['', 'all'], ...MARKS.map((mark) => [mark, markOf(mark)[1]])]);
byId('filters').addEventListener('input', guarded(() => loadItems(0)));
byId('filters').addEventListener('submit', (event) => event.preventDefault());
byId('more').addEventListener('click', guarded(() => loadItems(rows.length)));
window.addEventListener('hashchange', guarded(follow));
look().then(follow).catch(told);
setInterval(guarded(look), EVERY_MS);
