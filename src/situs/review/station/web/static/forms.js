// What a reader fills in.
import { html } from './preact-htm.js';
import { keyMap } from './keys.js';

const SURE = ['', 'a guess', 'fairly sure', 'sure'];
const SCORES = ['not usable', 'usable with doubts', 'good'];

function Choice({ name, value, options, pick, legend, hint = [] }) {
  return html`<fieldset class="choice"><legend>${legend}</legend>${options.map(([key, words], n) => html`<label class=${value === key ? 'chosen' : ''}><input type="radio" name=${name} checked=${value === key} onChange=${() => pick(key)} /><span>${words}</span>${hint[n] ? html`<kbd>${hint[n]}</kbd>` : null}</label>`)}</fieldset>`;
}

export function answerProblem(view, draft) {
  if (!draft.confidence) return 'How sure are you? Choose 1, 2 or 3.';
  if (draft.cannot.trim()) return '';
  return view.parts.every((part) => String(draft.answers[part.name] || '').trim()) ? '' : 'Answer, or say why it cannot be told.';
}
export function ratingProblem(view, draft, amending) {
  if (view.questions.length && view.questions.some((q) => draft.verdicts[q] === undefined)) return 'Answer every question with yes or no.';
  if (!view.questions.length && draft.score === null) return 'Choose a score: 0, 1 or 2.';
  return amending && !draft.reason.trim() ? 'Say why you correct it.' : '';
}

function Part({ view, part, draft, change }) {
  const map = keyMap(), value = draft.answers[part.name] || '';
  const pick = (said) => change({ answers: { ...draft.answers, [part.name]: said }, cannot: '' });
  const legend = part.name || 'Your answer', single = view.parts.length === 1;
  const hint = single ? [1, 2, 3, 4, 5, 6].map((n) => map['answer' + n]) : [];
  if (part.form === 'yes_no') return html`<${Choice} name=${'a' + part.name} legend=${legend} value=${value} options=${[['yes', 'Yes'], ['no', 'No']]} pick=${pick} hint=${hint} />`;
  if (part.form === 'choice') return html`<${Choice} name=${'a' + part.name} legend=${legend} value=${value} options=${view.options.map(([letter, words]) => [letter, `${letter}. ${words}`])} pick=${pick} hint=${hint} />`;
  const words = { number: 'A number', frames: 'First and last slice, e.g. 12-18', choices: 'Letters, e.g. A, C', grades: part.grades.join(', '), text: 'In your words' }[part.form] || '';
  return html`<label class="field">${legend}${part.unit ? ` (${part.unit})` : ''}<input value=${value} inputmode=${part.form === 'number' ? 'decimal' : null} placeholder=${words} onInput=${(e) => pick(e.target.value)} /></label>`;
}

export function AnswerForm({ view, draft, change }) {
  return html`<form onSubmit=${(e) => e.preventDefault()}>${view.parts.map((part) => html`<${Part} key=${part.name} view=${view} part=${part} draft=${draft} change=${change} />`)}
    <label class="field">Cannot be told, because … <kbd>${keyMap().cannot}</kbd><input id="cannot" value=${draft.cannot} maxlength="4000" onInput=${(e) => change({ cannot: e.target.value })} /></label>
    <${Choice} name="sure" legend="How sure are you?" value=${draft.confidence} options=${[1, 2, 3].map((n) => [n, `${n} ${SURE[n]}`])} pick=${(n) => change({ confidence: n })} /></form>`;
}

export function RatingForm({ view, draft, change, done, amending }) {
  const flip = (flag) => change({ flags: draft.flags.includes(flag) ? draft.flags.filter((f) => f !== flag) : [...draft.flags, flag] });
  const flags = view.kind === 'wording' ? ['wording', 'textbook', 'not useful'] : view.flags;
  return html`<form onSubmit=${(e) => e.preventDefault()}><fieldset class="plain" disabled=${done}>
    ${view.questions.length ? view.questions.map((q) => html`<${Choice} key=${q} name=${q} legend=${{ spatial: 'Is the question spatial?', relevant: 'Is it clinically relevant?', correct: 'Is the answer correct?' }[q] || q} value=${draft.verdicts[q]} options=${[[true, 'Yes'], [false, 'No']]} pick=${(v) => change({ verdicts: { ...draft.verdicts, [q]: v } })} />`)
      : html`<${Choice} name="score" legend=${view.kind === 'wording' ? 'How good is the wording?' : 'How good is this item?'} value=${draft.score} options=${[0, 1, 2].map((n) => [n, `${n} ${SCORES[n]}`])} pick=${(n) => change({ score: n })} />`}
    <fieldset class="flag-list"><legend>What is wrong, if anything</legend>${flags.map((flag) => html`<label><input type="checkbox" checked=${draft.flags.includes(flag)} onChange=${() => flip(flag)} />${flag}${flag === 'key wrong' ? html` <kbd>${keyMap().keyWrong}</kbd>` : null}</label>`)}</fieldset>
    <label class="field">Comment<textarea rows="2" maxlength="4000" value=${draft.comment} onInput=${(e) => change({ comment: e.target.value })}></textarea></label>
    ${amending ? html`<label class="field">Why do you correct it?<textarea rows="2" maxlength="4000" value=${draft.reason} onInput=${(e) => change({ reason: e.target.value })} autofocus></textarea></label>` : null}
  </fieldset></form>`;
}

export function DecisionForm({ draft, change, done }) {
  return html`<form onSubmit=${(e) => e.preventDefault()}><fieldset class="plain" disabled=${done}>
    <${Choice} name="wrong" legend="Is the key wrong?" value=${draft.key_wrong} options=${[[false, 'The key is right'], [true, 'The key is wrong']]} pick=${(v) => change({ key_wrong: v })} />
    <${Choice} name="decision" legend="What becomes of the item?" value=${draft.decision} options=${[['keep', 'Keep it'], ['fix', 'Ask the builder to fix it'], ['drop', 'Drop it']]} pick=${(v) => change({ decision: v })} />
    <label class="field">Reason<textarea rows="3" maxlength="4000" value=${draft.reason} onInput=${(e) => change({ reason: e.target.value })}></textarea></label></fieldset></form>`;
}
