// One item: question, key, answers, pictures, derivation, facts.
function makeDetail(data, row, navigate, open) {
  const [id, task, stratum, question, marks] = row;
  const detail = data.details[id];
  const crumbs = h('div', { class: 'crumbs' }, h('span', {}, task), h('span', {}, stratum || 'no stratum'),
    detail ? h('span', {}, noteOf(data, detail)) : null, h('code', {}, id),
    h('span', { class: 'nav' },
      h('button', { type: 'button', onclick: () => navigate(-1) }, '↑ Previous'),
      h('button', { type: 'button', onclick: () => navigate(1) }, '↓ Next')));
  const head = [crumbs, h('h3', { class: 'question' }, question)];
  if (!detail) return [...head, h('p', { class: 'nopic' }, 'The derivation of this item was left out to keep the file small. ' + marks.split('').map((m, i) => data.runs[i][0] + ': ' + markOf(m)[1]).join('; '))];
  const view = data.shared.views[id], strips = data.shared.strips[id];
  return [
    ...head,
    optionList(data, detail),
    flagList(data, detail),
    view ? makeViewer(data.shared, view, detail.subjects || []) : null,
    strips ? makeStrips(data, strips) : null,
    view || strips ? null : h('p', { class: 'nopic' }, data.picture_note),
    changedList(data, detail),
    twinList(data, detail, open),
    h('h4', {}, 'Why this is the answer'),
    stepList(data, detail),
    h('h4', {}, 'Answers'),
    answerList(data, detail),
    factTable(data, detail),
  ];
}

function noteOf(data, detail) {
  const series = data.series[detail.series];
  return series ? `${series.study}, ${series.modality}, ${series.spacing}` : detail.series;
}

function optionList(data, detail) {
  const answers = detail.answers || [];
  let options = detail.options;
  if (detail.form === 'yes_no') options = ['yes', 'no'].map((word) => [word === 'yes' ? 'Yes' : 'No', '', detail.answer === word]);
  if (!options.length) options = [['', detail.answer, true]];
  const picked = (letter) => answers.filter((a) => letter && a[2].toLowerCase() === letter.toLowerCase() && 'rw'.includes(a[1])).map((a) => data.runs[a[0]][0]);
  return h('ul', { class: 'options' }, options.map(([letter, text, right]) => {
    const by = picked(letter);
    return h('li', { class: right ? 'right' : '' }, letter ? h('span', { class: 'letter' }, letter) : null, text ? h('span', { class: 'said-key' }, text) : null,
      right ? h('span', { class: 'key' }, '✓ right answer') : null,
      by.length ? h('span', { class: 'picked' }, 'chosen by ' + by.join(', ')) : null);
  }));
}

function flagList(data, detail) {
  const series = data.series[detail.series];
  const flags = [...(detail.flags || []), ...(series ? series.flags : [])];
  return h('div', { class: 'flags' }, flags.map(([kind, words]) => h('span', { class: kind === 'warn' ? 'flag caution' : 'flag' }, words)));
}

// How many of the smallest unit each holds: an answer in cm stands on a line in mm.
const UNITS = { mm: 1, cm: 10, mL: 1, L: 1000 };

function stepList(data, detail) {
  const steps = detail.steps || [];
  if (!steps.length) return h('p', { class: 'nopic' }, 'The source gives the answer without a derivation.');
  const last = steps.filter((step) => step.value !== undefined).pop();
  const factor = detail.number && last ? UNITS[detail.number[3]] / UNITS[last.unit || ''] || (detail.number[3] === (last.unit || '') ? 1 : NaN) : NaN;
  const guesses = (detail.answers || []).map((a) => ({ name: data.runs[a[0]][0], mark: a[1], value: parseFloat(a[2]) * factor }))
    .filter((guess) => 'rw'.includes(guess.mark) && Number.isFinite(guess.value));
  const measured = steps.filter((step) => step.value !== undefined).map((step) => (step === last ? { ...step, guesses } : step));
  return h('ol', { class: 'steps' }, steps.map((step) => h('li', { class: step.kind }, h('span', { class: 'said' }, step.text),
    step.value === undefined ? null : numberLine(step === last ? measured.at(-1) : step, measured))));
}

function answerList(data, detail) {
  const answers = detail.answers || [];
  if (!answers.length) return h('p', { class: 'nopic' }, 'No run covers this item.');
  return h('div', { class: 'answers' }, answers.map(([run, mark, parsed, response, cut, flags, cause]) => h('section', { class: 'answer' },
    h('header', {}, h('span', { class: 'mark ' + mark, 'aria-hidden': 'true' }, markOf(mark)[0]), h('span', { class: 'who' }, data.runs[run][0]),
      data.runs[run][1] === 'model' ? null : h('span', { class: 'tag' }, KINDS[data.runs[run][1]]),
      h('span', { class: 'word ' + mark }, markOf(mark)[1]),
      cause && cause !== markOf(mark)[1] ? h('span', { class: 'tag' }, cause) : null,
      (flags || []).map((flag) => h('span', { class: 'tag' }, flag.replace(/_/g, ' '))),
      parsed ? h('span', { class: 'read' }, 'rw'.includes(mark) ? 'read as: ' + parsed : parsed) : null),
    h('blockquote', {}, response || '(no text)', cut ? h('small', {}, ` … and ${cut} more characters`) : null))));
}

function factTable(data, detail) {
  const places = [...(detail.facts || []).map((n) => [n, false]), ...(detail.inputs || []).map((n) => [n, true])];
  if (!places.length) return null;
  const head = ['Fact', 'Of', 'Value', 'Interval', 'Derived by', 'Flags'];
  return h('details', {}, h('summary', {}, `Facts used (${places.length})`), h('div', { class: 'factable', tabindex: 0, role: 'region', 'aria-label': 'Facts' }, h('table', {},
    h('thead', {}, h('tr', {}, head.map((word) => h('th', { scope: 'col' }, word)))),
    h('tbody', {}, places.map(([place, input]) => {
      const [kind, subjects, value, interval, how, flags] = data.facts[place];
      return h('tr', { class: input ? 'input' : '' }, h('th', { scope: 'row' }, kind.replace(/\./, ', ').replace(/_/g, kind.includes('.') ? '–' : ' '), input ? h('small', {}, ' (input)') : null),
        h('td', {}, subjects.replace(/_/g, ' ')), h('td', {}, value), h('td', {}, interval), h('td', {}, h('code', {}, how)), h('td', {}, flags.join(', ')));
    })))));
}

// The same question of this scan, changed by a probe: the right answer then, and what the model said.
function changedList(data, detail) {
  if (!(detail.changed || []).length) return null;
  const card = ([probe, outcome, answer, run, mark, said, picture]) =>
    h('li', { class: 'twin' }, picture ? h('img', { alt: 'a picture of the changed scan', src: data.shared.frames[picture] }) : null,
      h('div', {}, h('p', {}, probe + (outcome === 'changed' ? ': the right answer changes' : ': the right answer stays')),
        h('p', { class: 'twin-key' }, 'Right: ' + answer),
        h('p', { class: 'marks' }, h('span', { class: 'mark ' + mark, title: markOf(mark)[1] }, markOf(mark)[0]), ' ' + data.runs[run][0] + ': ' + (said || 'no answer read'))));
  return h('section', { 'aria-label': 'Counterfactual twins' }, h('h4', {}, 'Counterfactual twin: the same question of the changed scan'), h('ul', { class: 'twins' }, detail.changed.map(card)));
}

// The same words about another patient, or this scan changed: what a model that looks must tell apart.
function twinList(data, detail, open) {
  const twins = (detail.twins || []).map((id) => data.rows.find((row) => row[0] === id)).filter(Boolean);
  if (!twins.length) return null;
  const card = ([id, , , question, marks, pictured]) => {
    const other = data.details[id], views = (data.shared.strips[id] || [])[0];
    const seen = views && views.frames.find((frame) => frame[0] === views.opening && frame[1]);
    return h('li', { class: 'twin' }, seen ? h('img', { alt: 'a picture of the twin', src: data.shared.frames[seen[1]] }) : null,
      h('div', {}, h('p', {}, question), other ? h('p', { class: 'twin-key' }, 'Right: ' + other.answer) : null,
        h('p', { class: 'marks' }, marks.split('').map((mark, run) => mark === ' ' ? null : h('span', { class: 'mark ' + mark, title: data.runs[run][0] + ': ' + markOf(mark)[1] }, markOf(mark)[0]))),
        h('button', { type: 'button', class: 'tool', onclick: () => open(id) }, pictured ? 'Open, with pictures' : 'Open')));
  };
  return h('section', { 'aria-label': 'Twins' }, h('h4', {}, isMade(detail) ? 'Counterfactual twin' : 'Twins: the same question of other patients'), h('ul', { class: 'twins' }, twins.map(card)));
}
const isMade = (detail) => (detail.twins || []).some((id) => id.includes('~'));
