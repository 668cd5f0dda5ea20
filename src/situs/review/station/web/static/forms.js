// What a reader fills in.
import { html, useState, useEffect, useRef } from './preact-htm.js';
import { keyMap } from './keys.js';
import { boxesIn } from './planes.js';

// What was said, in words: boxes are a list of numbers otherwise.
export const inWords = (answers) => Object.values(answers || {}).map((said) => (/^\[/.test(said) ? boxWords(boxesIn(said)) : /^\{/.test(said) ? Object.entries(gradesIn(said)).map(([k, v]) => `${k} ${v}`).join(', ') : said)).join('; ');
const boxWords = (boxes) => boxes.length ? `${boxes.length} ${boxes.length === 1 ? 'box' : 'boxes'} on slice ${[...new Set(boxes.map((box) => box.frame + 1))].join(', ')}` : 'nothing to box';

// Flags whose names do not say all of it.
const FLAG_WORDS = { 'mask fault': 'outline wrong', 'side doubt': 'left or right in doubt', wording: 'wording unclear', textbook: 'textbook: needs no scan' };
export const flagWords = (flag) => FLAG_WORDS[flag] || flag;

const SURE = ['', 'a guess', 'fairly sure', 'sure'];
const SCORES = ['not usable', 'usable with doubts', 'good'];

function Choice({ name, value, options, pick, legend, hint = [] }) {
  return html`<fieldset class="choice"><legend>${legend}</legend>${options.map(([key, words], n) => html`<label class=${value === key ? 'chosen' : ''}><input type="radio" name=${name} checked=${value === key} onChange=${() => pick(key)} /><span>${words}</span>${hint[n] ? html`<kbd>${hint[n]}</kbd>` : null}</label>`)}</fieldset>`;
}

export function answerProblem(view, draft) {
  if (!draft.confidence) return 'How sure are you? Choose 1, 2 or 3.';
  if (draft.cannot.trim()) return '';
  const given = (part) => {
    const said = String(draft.answers[part.name] || '').trim();
    return part.form === 'grades' ? part.grades.every((name) => name in gradesIn(said)) : said !== '';
  };
  if (!view.parts.every(given)) return 'Answer, or say why it cannot be told.';
  // Only what is surely none: the station reads numbers as the scores do, and has the last word.
  const unread = view.parts.find((part) => part.form === 'number' && !/\d/.test(draft.answers[part.name]));
  return unread ? `${unread.name ? unread.name + ': give' : 'Give'} one number${unread.unit ? ' in ' + unread.unit : ''}, e.g. 12.5 or 12,5, or say why it cannot be told.` : '';
}
export function ratingProblem(view, draft, amending) {
  if (view.questions.length && view.questions.some((q) => draft.verdicts[q] === undefined)) return 'Answer every question with yes or no.';
  if (!view.questions.length && draft.score === null) return 'Choose a score: 0, 1 or 2.';
  return amending && !draft.reason.trim() ? 'Give a reason for the correction.' : '';
}

const gradesIn = (text) => { try { return JSON.parse(text || '{}'); } catch { return {}; } };

// Boxes are drawn on the axial picture, or typed by those who draw with the keyboard.
function BoxPart({ view, part, value, legend, pick, planes }) {
  const [label, setLabel] = useState(''), [isOn, setOn] = useState(false), [edges, setEdges] = useState(['', '', '', '']);
  const boxes = boxesIn(value), none = value === '[]', axial = view.series.oriented ? 'axial ' : '';
  const put = (list) => pick(list.length ? JSON.stringify(list) : '');
  const add = (box) => put([...boxes, { ...box, label: label.trim() }]);
  const draw = (on) => { setOn(on); if (planes.current) planes.current.isDrawing = on; };
  useEffect(() => {
    const p = planes.current;
    if (!p) return;
    p.isDrawing = isOn;
    p.onDrawn = (box) => add(Object.fromEntries(Object.entries(box).map(([k, v]) => [k, k === 'frame' ? v : Math.round(10 * v) / 10])));
    p.showBoxes(boxes.map((box) => ({ ...box, kind: 'mine' })));
  });
  const type = () => {
    const [x0, y0, x1, y1] = edges.map(Number), p = planes.current;
    if (!p || edges.some((edge) => edge === '') || x0 === x1 || y0 === y1) return;
    add({ frame: p.controls.at.axial, x0: Math.min(x0, x1), y0: Math.min(y0, y1), x1: Math.max(x0, x1), y1: Math.max(y0, y1) });
    setEdges(['', '', '', '']);
  };
  return html`<fieldset class="boxing"><legend>${legend}</legend>
    <p class="small">${part.solid ? `Box it on the first and the last ${axial}slice that show it, or on more: the box around all of them counts.` : `Box it on every ${axial}slice it is to be shown on.`}</p>
    <div class="row"><button type="button" id="draw" aria-pressed=${isOn} onClick=${() => draw(!isOn)}>${isOn ? `Drawing: drag on the ${axial}picture` : 'Draw a box'} <kbd>${keyMap().draw}</kbd></button></div>
    <label class="field">What the next box shows, if several are asked for<input value=${label} maxlength="200" onInput=${(e) => setLabel(e.target.value)} /></label>
    <details><summary>Type a box</summary><div class="edges">${['left', 'top', 'right', 'bottom'].map((name, n) => html`<label>${name}<input type="number" min="0" step="any" value=${edges[n]} onInput=${(e) => setEdges(edges.map((old, k) => (k === n ? e.target.value : old)))} /></label>`)}
      <button type="button" onClick=${type}>Add to this ${axial}slice</button></div><p class="small">In pixels from the top left corner.</p></details>
    <ul class="drawn">${boxes.map((box, n) => html`<li>slice ${box.frame + 1}: ${box.x0}–${box.x1} × ${box.y0}–${box.y1}${box.label ? ', ' + box.label : ''}
      <button type="button" onClick=${() => planes.current && planes.current.go(box.frame)}>Go to</button><button type="button" aria-label=${`remove box ${n + 1}`} onClick=${() => put(boxes.filter((_, k) => k !== n))}>Remove</button></li>`)}</ul>
    <label><input type="checkbox" checked=${none} onChange=${(e) => pick(e.target.checked ? '[]' : '')} /> There is nothing to box</label></fieldset>`;
}

// Slices are marked where one is, or typed.
function FramePart({ value, legend, pick, planes }) {
  const here = () => planes.current.controls.at.axial + 1;
  const [first, last] = (/^\s*(\d*)\s*-?\s*(\d*)/.exec(value) || []).slice(1);
  const mark = (low, high) => pick(low && high ? `${Math.min(low, high)}-${Math.max(low, high)}` : `${low || high}`);
  return html`<fieldset><legend>${legend}</legend><div class="row"><button type="button" id="first-slice" onClick=${() => mark(here(), Number(last) || 0)}>First slice is this <kbd>${keyMap().first}</kbd></button>
    <button type="button" id="last-slice" onClick=${() => mark(Number(first) || 0, here())}>Last slice is this <kbd>${keyMap().last}</kbd></button></div>
    <label class="field">Axial slices, e.g. 12-18, or none<input value=${value} maxlength="400" onInput=${(e) => pick(e.target.value)} /></label></fieldset>`;
}

function GradePart({ part, value, legend, pick }) {
  const grades = gradesIn(value);
  const put = (name, text) => { const next = { ...grades }; if (/^\d{1,3}$/.test(text)) next[name] = Number(text); else delete next[name]; pick(Object.keys(next).length ? JSON.stringify(next) : ''); };
  return html`<fieldset><legend>${legend}</legend>${part.grades.map((name) => html`<label class="field inline">${name}<input type="number" min="0" step="1" value=${grades[name] ?? ''} onInput=${(e) => put(name, e.target.value)} /></label>`)}</fieldset>`;
}

function Part({ view, part, draft, change, planes }) {
  const map = keyMap(), value = draft.answers[part.name] || '';
  const pick = (said) => change({ answers: { ...draft.answers, [part.name]: said }, cannot: '' });
  const legend = part.name || 'Your answer', single = view.parts.length === 1;
  const hint = single ? [1, 2, 3, 4, 5, 6].map((n) => map['answer' + n]) : [];
  if (part.form === 'yes_no') return html`<${Choice} name=${'a' + part.name} legend=${legend} value=${value} options=${[['yes', 'Yes'], ['no', 'No']]} pick=${pick} hint=${hint} />`;
  if (part.form === 'choice') return html`<${Choice} name=${'a' + part.name} legend=${legend} value=${value} options=${view.options.map(([letter, words]) => [letter, `${letter}. ${words}`])} pick=${pick} hint=${hint} />`;
  if (part.form === 'boxes') return html`<${BoxPart} view=${view} part=${part} value=${value} legend=${legend} pick=${pick} planes=${planes} />`;
  if (part.form === 'frames') return html`<${FramePart} value=${value} legend=${legend} pick=${pick} planes=${planes} />`;
  if (part.form === 'grades') return html`<${GradePart} part=${part} value=${value} legend=${legend} pick=${pick} />`;
  const words = { number: 'A number', choices: 'Letters, e.g. A, C', text: 'In your words' }[part.form] || '';
  return html`<label class="field">${legend}${part.unit ? ` (${part.unit})` : ''}<input value=${value} inputmode=${part.form === 'number' ? 'decimal' : null} placeholder=${words} onInput=${(e) => pick(e.target.value)} /></label>`;
}

export function AnswerForm({ view, draft, change, planes }) {
  return html`<form onSubmit=${(e) => e.preventDefault()}>${view.parts.map((part) => html`<${Part} key=${part.name} view=${view} part=${part} draft=${draft} change=${change} planes=${planes} />`)}
    <label class="field"><span>Cannot be told, because … <kbd>${keyMap().cannot}</kbd></span><input id="cannot" value=${draft.cannot} maxlength="4000" onInput=${(e) => change({ cannot: e.target.value })} /></label>
    <${Choice} name="sure" legend="How sure are you?" value=${draft.confidence} options=${[1, 2, 3].map((n) => [n, `${n} ${SURE[n]}`])} pick=${(n) => change({ confidence: n })} /></form>`;
}

export function RatingForm({ view, draft, change, done, amending }) {
  const reason = useRef(null);
  // Whoever amends types a reason next: without the focus, its letters would be taken for keys that rate.
  useEffect(() => { if (amending) reason.current.focus(); }, [amending]);
  const flip = (flag) => change({ flags: draft.flags.includes(flag) ? draft.flags.filter((f) => f !== flag) : [...draft.flags, flag] });
  const flags = view.kind === 'wording' ? ['wording', 'textbook', 'not useful'] : view.flags;
  return html`<form onSubmit=${(e) => e.preventDefault()}><fieldset class="plain" disabled=${done}>
    ${view.questions.length ? view.questions.map((q) => html`<${Choice} key=${q} name=${q} legend=${{ spatial: 'Is the question spatial?', relevant: 'Is it clinically relevant?', correct: 'Is the answer correct?' }[q] || q} value=${draft.verdicts[q]} options=${[[true, 'Yes'], [false, 'No']]} pick=${(v) => change({ verdicts: { ...draft.verdicts, [q]: v } })} />`)
      : html`<${Choice} name="score" legend=${view.kind === 'wording' ? 'How good is the wording?' : 'How good is this item?'} value=${draft.score} options=${[0, 1, 2].map((n) => [n, `${n} ${SCORES[n]}`])} pick=${(n) => change({ score: n })} />`}
    <fieldset class="flag-list"><legend>What is wrong, if anything</legend>${flags.map((flag) => html`<label><input type="checkbox" checked=${draft.flags.includes(flag)} onChange=${() => flip(flag)} />${flagWords(flag)}${flag === 'key wrong' ? html` <kbd>${keyMap().keyWrong}</kbd>` : null}</label>`)}</fieldset>
    <label class="field">Comment<textarea rows="2" maxlength="4000" value=${draft.comment} onInput=${(e) => change({ comment: e.target.value })}></textarea></label>
    ${amending ? html`<label class="field">Reason for the correction<textarea ref=${reason} rows="2" maxlength="4000" value=${draft.reason} onInput=${(e) => change({ reason: e.target.value })}></textarea></label>` : null}
  </fieldset></form>`;
}

export function DecisionForm({ draft, change, done, amending }) {
  const reason = useRef(null);
  useEffect(() => { if (amending) reason.current.focus(); }, [amending]);
  return html`<form onSubmit=${(e) => e.preventDefault()}><fieldset class="plain" disabled=${done}>
    <${Choice} name="wrong" legend="Is the key wrong?" value=${draft.key_wrong} options=${[[false, 'The key is right'], [true, 'The key is wrong']]} pick=${(v) => change({ key_wrong: v })} />
    <${Choice} name="decision" legend="What becomes of the item?" value=${draft.decision} options=${[['keep', 'Keep it'], ['fix', 'Ask the builder to fix it'], ['drop', 'Drop it']]} pick=${(v) => change({ decision: v })} />
    <label class="field">${amending ? 'Reason for the corrected decision' : 'Reason'}<textarea ref=${reason} rows="3" maxlength="4000" value=${draft.reason} onInput=${(e) => change({ reason: e.target.value })}></textarea></label></fieldset></form>`;
}
