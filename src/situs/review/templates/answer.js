const isTyping = (target) => /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !/^(radio|checkbox|button|range)$/.test(target.type);
// How each kind of question is answered. Every control writes into `said` and calls `changed`.
function optionButtons(options, several, said, changed) {
  const chosen = new Set((said.text || '').split(', ').filter(Boolean));
  const buttons = options.map(([letter, text]) => h('button', { type: 'button', class: 'option', 'data-key': letter.toLowerCase(), 'aria-pressed': String(chosen.has(letter)), onclick: () => {
    if (several) chosen[chosen.has(letter) ? 'delete' : 'add'](letter);
    else { chosen.clear(); chosen.add(letter); }
    buttons.forEach((button, n) => button.setAttribute('aria-pressed', String(chosen.has(options[n][0]))));
    said.text = options.map(([name]) => name).filter((name) => chosen.has(name)).join(', ');
    changed(said.text !== '');
  } }, h('kbd', {}, letter), h('span', {}, text)));
  return h('div', { class: 'options', role: 'group', 'aria-label': several ? 'Options; several may be right' : 'Options' }, buttons);
}

function yesNo(said, changed) {
  const words = ['yes', 'no'];
  const buttons = words.map((word) => h('button', { type: 'button', class: 'option', 'data-key': word[0], 'aria-pressed': String(said.text === word), onclick: () => {
    said.text = word;
    buttons.forEach((button, n) => button.setAttribute('aria-pressed', String(words[n] === word)));
    changed(true);
  } }, h('kbd', {}, word[0].toUpperCase()), h('span', {}, word === 'yes' ? 'Yes' : 'No')));
  return h('div', { class: 'options', role: 'group', 'aria-label': 'Yes or no' }, buttons);
}

function typed(label, said, changed, { unit = '', hint = '', rows = 0 } = {}) {
  const start = unit ? (said.text || '').replace(' ' + unit, '') : said.text || '';
  const input = rows ? h('textarea', { rows, 'aria-label': label }) : h('input', { type: 'text', inputmode: unit || hint === 'number' ? 'decimal' : 'text', 'aria-label': label, autocomplete: 'off' });
  input.value = start;
  input.addEventListener('input', () => {
    const value = input.value.trim();
    said.text = value && unit ? `${value} ${unit}` : value;
    changed(value !== '');
  });
  return h('label', { class: 'typed' }, h('span', {}, label), input, unit ? h('span', {}, unit) : null);
}

function gradeInputs(names, said, changed) {
  said.grades = said.grades || {};
  return h('div', { class: 'grades' }, names.map((name) => {
    const input = h('input', { type: 'number', min: 0, step: 1, 'aria-label': name });
    if (name in said.grades) input.value = said.grades[name];
    input.addEventListener('input', () => {
      if (/^\d+$/.test(input.value)) said.grades[name] = Number(input.value);
      else delete said.grades[name];
      changed(names.every((one) => one in said.grades));
    });
    return h('label', { class: 'typed' }, h('span', {}, name), input);
  }));
}

function boxList(item, said, changed, viewer) {
  said.boxes = said.boxes || [];
  const list = h('ul', { class: 'drawn' });
  const label = h('input', { type: 'text', 'aria-label': 'what the next box holds', placeholder: 'what it is (if several are asked for)', autocomplete: 'off' });
  const none = h('input', { type: 'checkbox', onchange: () => { if (none.checked) { said.boxes.length = 0; render(); } changed(none.checked); } });
  function render() {
    list.replaceChildren(...said.boxes.map((box, n) => h('li', {}, `picture ${box.frame + item.frame_base}: x ${box.x0.toFixed(0)}–${box.x1.toFixed(0)}, y ${box.y0.toFixed(0)}–${box.y1.toFixed(0)}${box.label ? ', ' + box.label : ''} `,
      h('button', { type: 'button', 'aria-label': `remove box ${n + 1}`, onclick: () => { said.boxes.splice(n, 1); render(); changed(said.boxes.length > 0); } }, 'Remove'))));
    viewer.redraw();
  }
  viewer.onDrawn((box) => { none.checked = false; said.boxes.push({ ...box, label: label.value.trim() }); render(); changed(true); });
  viewer.drawn = () => said.boxes;
  render();
  const numbers = ['x from', 'y from', 'x to', 'y to'].map((name) => h('input', { type: 'number', 'aria-label': name, placeholder: name }));
  const add = () => {
    const [x0, y0, x1, y1] = numbers.map((input) => Number(input.value));
    if (numbers.some((input) => input.value === '') || x0 === x1 || y0 === y1) return;
    said.boxes.push({ frame: viewer.at(), x0: Math.min(x0, x1), y0: Math.min(y0, y1), x1: Math.max(x0, x1), y1: Math.max(y0, y1), label: label.value.trim() });
    render();
    changed(true);
  };
  return h('div', { class: 'boxing' }, h('p', { class: 'hint' }, 'Draw each box with the mouse or a finger on the picture, or type its edges in pixels.'), label,
    h('details', {}, h('summary', {}, 'Type a box'), h('div', { class: 'edges' }, numbers, h('button', { type: 'button', onclick: add }, 'Add to this picture'))), list,
    h('label', { class: 'none' }, none, ' there is nothing to box'));
}

function partControl(item, part, said, changed, viewer) {
  const label = part.name || 'Answer';
  switch (part.form) {
    case 'yes_no': return yesNo(said, changed);
    case 'choice': return optionButtons(item.options, false, said, changed);
    case 'choices': return optionButtons(item.options, true, said, changed);
    case 'number': return typed(label, said, changed, { unit: part.unit, hint: 'number' });
    case 'frames': return typed(`Pictures, e.g. ${item.frame_base + 2}-${item.frame_base + 5}`, said, changed);
    case 'grades': return gradeInputs(part.grades || [], said, changed);
    case 'boxes': return boxList(item, said, changed, viewer);
    case 'text': return typed(label, said, changed, { rows: 3 });
    default: throw new Error(`no way to answer a question of the kind ${part.form}`);
  }
}
