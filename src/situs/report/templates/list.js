// The list of items: filtered in memory, only the rows in sight are in the page.
const ROW = 76;

function makeList(data, choose) {
  const list = byId('list'), spacer = byId('spacer'), count = byId('count');
  let shown = [], chosen = -1;

  function options(select, entries) {
    select.replaceChildren(...entries.map(([value, words]) => h('option', { value }, words)));
  }
  const counted = (place) => {
    const counts = new Map();
    for (const row of data.rows) counts.set(row[place], (counts.get(row[place]) || 0) + 1);
    return [...counts].sort().map(([value, n]) => [value, `${value || '(none)'} (${n})`]);
  };
  options(byId('f-task'), [['*', 'all'], ...counted(1)]);
  options(byId('f-stratum'), [['*', 'all'], ...counted(2)]);
  options(byId('f-run'), [['*', 'any run'], ...data.runs.map(([name], place) => [place, name])]);
  options(byId('f-mark'), [['*', 'all'], ...Object.entries(MARKS).filter(([letter]) => data.rows.some((row) => row[4].includes(letter))).map(([letter, [, words]]) => [letter, words])]);

  const causes = new Map();
  for (const row of data.rows) for (const cause of row[6] || []) if (cause) causes.set(cause, (causes.get(cause) || 0) + 1);
  options(byId('f-cause'), [['*', 'any'], ...[...causes].sort().map(([name, n]) => [name, `${name} (${n})`])]);
  if (!causes.size) byId('f-cause').closest('label').remove();
  const causeOf = () => (byId('f-cause') || { value: '*' }).value;
  const models = data.runs.map(([, kind], place) => [kind, place]).filter(([kind]) => kind === 'model').map(([, place]) => place);
  const wrongRuns = models.length ? models : data.runs.map((_, place) => place);

  function matches(row, filter) {
    const own = filter.run === '*' ? null : Number(filter.run);
    if (filter.wrong && !(own === null ? wrongRuns : [own]).some((run) => 'wuf'.includes(row[4][run]))) return false;
    if (filter.cause !== '*' && !(row[6] || []).some((cause, run) => cause === filter.cause && (own === null || run === own))) return false;
    if (filter.task !== '*' && row[1] !== filter.task) return false;
    if (filter.stratum !== '*' && row[2] !== filter.stratum) return false;
    if (filter.mark !== '*' && !(filter.run === '*' ? row[4] : row[4][Number(filter.run)]).includes(filter.mark)) return false;
    if (filter.mark === '*' && filter.run !== '*' && row[4][Number(filter.run)] === ' ') return false;
    if (filter.pictured && !row[5]) return false;
    return filter.words.every((word) => (row[3] + ' ' + row[0] + ' ' + row[1]).toLowerCase().includes(word));
  }
  function apply() {
    const filter = {
      task: byId('f-task').value, stratum: byId('f-stratum').value, run: byId('f-run').value, mark: byId('f-mark').value,
      pictured: byId('f-pictured').checked, wrong: byId('f-wrong').checked, cause: causeOf(), words: byId('f-text').value.toLowerCase().split(/\s+/).filter(Boolean),
    };
    const kept = chosen >= 0 ? shown[chosen] : null;
    shown = data.rows.filter((row) => matches(row, filter));
    chosen = kept ? shown.indexOf(kept) : -1;
    spacer.style.height = shown.length * ROW + 'px';
    count.textContent = `${shown.length.toLocaleString('en')} of ${data.rows.length.toLocaleString('en')} items`;
    if (chosen < 0) list.scrollTop = 0;
    render();
  }
  function render() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
    const nodes = [spacer];
    for (let place = first; place < last; place++) nodes.push(rowNode(place));
    list.replaceChildren(...nodes);
    list.setAttribute('aria-activedescendant', chosen >= first && chosen < last ? 'row-' + chosen : '');
  }
  function rowNode(place) {
    const [, task, stratum, question, marks, pictured] = shown[place];
    const node = h('div', { class: 'row', id: 'row-' + place, role: 'option', 'aria-selected': String(place === chosen), 'aria-setsize': shown.length, 'aria-posinset': place + 1, onclick: () => pick(place, true) },
      h('div', { class: 'q' }, question),
      h('div', { class: 'meta' }, h('span', { class: 'grow' }, `${task}, ${stratum || 'no stratum'}${pictured ? ', pictures' : ''}`),
        h('span', { class: 'marks' }, marks.split('').map((mark, run) => h('span', { class: 'mark ' + mark, title: data.runs[run][0] + ': ' + markOf(mark)[1] }, markOf(mark)[0])))));
    node.style.top = place * ROW + 'px';
    return node;
  }
  function pick(place, byPointer) {
    if (!shown.length) return;
    chosen = clamp(place, 0, shown.length - 1);
    const top = chosen * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    render();
    choose(shown[chosen], byPointer);
  }
  list.addEventListener('scroll', render, { passive: true });
  new ResizeObserver(render).observe(list);
  list.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    pick(to, false);
  });
  byId('filters').addEventListener('input', apply);
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  byId('items-csv').addEventListener('click', () => {
    const lines = [['item_id', 'task', 'stratum', 'question', 'right_answer', ...data.runs.flatMap(([name]) => [name + ' outcome', name + ' read as', name + ' cause'])]];
    for (const row of shown) {
      const detail = data.details[row[0]];
      const read = (run) => ((detail && detail.answers || []).find((a) => a[0] === run) || [])[2] || '';
      lines.push([row[0], row[1], row[2], row[3], detail ? detail.answer : '', ...data.runs.flatMap((_, run) => [markOf(row[4][run])[1], read(run), (row[6] || [])[run] || ''])]);
    }
    download('items.csv', lines.map(csvLine).join('\n') + '\n', 'text/csv;charset=utf-8');
  });
  function centre(place) {
    list.scrollTop = place * ROW - list.clientHeight / 2 + ROW / 2;
    pick(place, false);
  }
  apply();
  return {
    pick,
    by: (step) => pick(chosen + step, false),
    show: (id) => { if (!shown.some((row) => row[0] === id)) { byId('filters').reset(); apply(); } const place = shown.findIndex((row) => row[0] === id); if (place >= 0) centre(place); },
    open: (id) => { const place = shown.findIndex((row) => row[0] === id); if (place >= 0) centre(place); return place >= 0; },
    first: () => centre(Math.max(0, shown.findIndex((row) => row[5]))),
  };
}
