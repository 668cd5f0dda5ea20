// The reading room: three linked planes and one question; wordings and adjudication are read here too.
import { html, useState, useEffect, useLayoutEffect, useRef } from './preact-htm.js';
import { api, submit, ApiError } from './api.js';
import { listen, keyMap } from './keys.js';
import { openNext } from './list.js';
import { Planes, boxesIn } from './planes.js';
import { workOn, EMPTY } from './work.js';
import { AnswerForm, RatingForm, DecisionForm, answerProblem, ratingProblem, flagWords, inWords } from './forms.js';
import { stepList, factTable, flagList } from '/static/viewer.js';

export function Room({ id }) {
  const [view, setView] = useState(null), [draft, setDraft] = useState(EMPTY), [state, setState] = useState(''), [conflict, setConflict] = useState(null);
  const [, setReady] = useState(null), [problem, setProblem] = useState(''), [amending, setAmending] = useState(false), [window_, setWindow] = useState([0, 0]), [flipped, setFlipped] = useState(false);
  const work = useRef(workOn(id)).current, planes = useRef(null), box = useRef(null), dialog = useRef(null);

  const take = (got, keepDraft) => {
    if (!keepDraft) work.settle(got.version, { ...EMPTY, ...(got.rating || {}), ...(got.decision || {}), ...got.draft });
    setDraft(work.draft);
    setView(got);
    setAmending(work.isCorrection && got.state === 'done');
    setProblem('');
  };
  // A corrected decision has a reason of its own; a rating's reason is empty anyhow.
  const amend = () => { work.isCorrection = true; if (work.draft.reason) setDraft(work.change({ reason: '' })); setAmending(true); };
  useEffect(() => {
    work.tell = (said, error) => {
      if (said === 'conflict') setConflict(error.body);
      else if (said === 'problem') setProblem(error.message);
      else setState(said);
    };
    // What the station has not got yet was typed before this page was left: it is sent on, under the version it was written on.
    Promise.resolve(work.saving).then(() => api('/assignments/' + id)).then((got) => {
      const isUnsent = work.isUnsent;
      take(got, isUnsent);
      if (isUnsent && !work.isCorrection) work.save();
    }).catch((error) => setProblem(error.status === 404 ? 'There is no such case on your list.' : error.message));
    const timer = setInterval(() => { if (!document.hidden && Date.now() - work.last < 30000) work.active += 1000; }, 1000);
    const alive = () => { work.last = Date.now(); };
    ['pointermove', 'keydown', 'wheel'].forEach((name) => window.addEventListener(name, alive, { passive: true }));
    return () => { clearInterval(timer); work.leave(); ['pointermove', 'keydown', 'wheel'].forEach((name) => window.removeEventListener(name, alive)); if (planes.current) planes.current.close(); };
  }, [id]);

  // Whoever types on must not type behind the question, nor answer it by a space: the dialog itself has the focus, none of its buttons.
  useLayoutEffect(() => {
    if (!conflict) return undefined;
    const before = document.activeElement;
    dialog.current.focus();
    return () => before && before.focus();
  }, [conflict]);

  // The viewer is made anew when the stage changes: only then may it know the overlay.
  useEffect(() => {
    if (!view || !view.series || !box.current) return;
    const before = planes.current;
    const made = new Planes(view, { overlay: view.reveal, onWindow: (low, high) => setWindow([low, high]) });
    if (before) {
      made.setWindow(before.low, before.high);
      for (const plane of view.series.planes) { made.controls.at[plane] = before.controls.at[plane]; }
      made.kept = before.kept;
      made.bytes = before.bytes;
      made.seen = before.seen;
      before.close();
    } else { made.controls.show.main = view.series.large; made.controls.show.neurological = false; made.controls.show.hidden.clear(); made.controls.show.lines = false; }
    planes.current = made;
    // At the second stage the reader's own boxes, and for an adjudicator those of the readers, stay beside the key's.
    const drawn = (answers, kind) => Object.values(answers || {}).filter((text) => /^\[/.test(text)).flatMap(boxesIn).map((box) => ({ ...box, kind }));
    made.drawn = [...drawn(view.answer && view.answer.answers, 'mine'), ...(view.readings || []).flatMap((r) => drawn(r.answers, 'theirs'))];
    setReady(made);
    box.current.replaceChildren(made.element);
    window.situsPlanes = made;
  }, [view && view.id, view && view.stage]);

  const change = (part) => {
    setDraft(work.change(part));
    if (!work.isCorrection) setState('unsaved');
  };

  // On a low screen the words stand below what is seen of the form.
  const complain = (words) => {
    setProblem(words);
    requestAnimationFrame(() => { const line = document.querySelector('.sheet .problem'); if (line) line.scrollIntoView({ block: 'nearest' }); });
  };

  const send = async (goOn) => {
    if (!view || state === 'sending') return false;
    const said = work.draft, first = view.stage === 1;
    const decides = !first && view.purpose === 'adjudicate';
    if (view.state === 'done' && !amending) { if (goOn) await openNext(); return true; }
    if (view.state === 'signed') { await openNext(); return true; }
    const missing = first ? answerProblem(view, said) : decides ? (said.decision && said.key_wrong !== null && said.reason.trim() ? '' : 'Choose a decision, say whether the key is wrong, and why.') : ratingProblem(view, said, amending);
    if (missing) { complain(missing); return true; }
    await work.quiet();
    setState('sending');
    const looked = { active_ms: work.active, slices_seen: planes.current ? planes.current.seen.size : 0 };
    const rating = { score: said.score, flags: said.flags, verdicts: said.verdicts, comment: said.comment };
    const [path, body] = first ? ['answer', { answers: said.cannot ? {} : said.answers, cannot: said.cannot, confidence: said.confidence, ...looked }]
      : decides ? ['decision', { decision: said.decision, key_wrong: said.key_wrong, reason: said.reason }]
        : amending ? ['amend', { ...rating, reason: said.reason }] : ['rating', { ...rating, ...looked }];
    try {
      const got = await submit(`/assignments/${id}/${path}`, { version: work.version, body }, () => setState('offline'));
      setState('');
      work.settle(got.version, work.draft);
      if (first || !goOn) { work.active = 0; take(got); }
      else await openNext().then((next) => { if (next.id === id || !next.id) { take(got); if (!next.id) location.hash = ''; } });
    } catch (error) {
      setState('');
      if (error instanceof ApiError && error.status === 412) setConflict(error.body);
      else complain(error.message);
    }
    return true;
  };

  // In the same step as the page: a key pressed at once must mean what the page shows, not what it showed before.
  useLayoutEffect(() => {
    if (!view) return undefined;
    const overlay = (on) => { const p = planes.current; if (p && view.reveal) { p.controls.show.overlay = on; p.controls.drawAll(); } };
    const space = (event) => {
      if (event.code !== 'Space' || event.target.closest('textarea, input, button, summary, select')) return;
      event.preventDefault();
      overlay(event.type === 'keyup');
    };
    window.addEventListener('keydown', space);
    window.addEventListener('keyup', space);
    const letters = view.form === 'yes_no' ? ['yes', 'no'] : view.options.map((o) => o[0]);
    const single = view.parts && view.parts.length === 1 && ['yes_no', 'choice'].includes(view.form);
    const pick = (n) => () => (view.stage === 1 && single && letters[n] !== undefined ? change({ answers: { [view.parts[0].name]: letters[n] }, cannot: '' }) : false);
    const rate = (n) => () => { if (view.stage === 1 && view.stages === 2) return n ? change({ confidence: n }) : false; return n < 3 && (view.state !== 'done' || amending) ? change({ score: n }) : false; };
    const press = (button) => { const found = document.getElementById(button); if (!found) return false; found.click(); return true; };
    const flag = () => (view.stage === 2 ? change({ flags: work.draft.flags.includes('key wrong') ? work.draft.flags.filter((f) => f !== 'key wrong') : [...work.draft.flags, 'key wrong'] }) : false);
    const stop = listen({
      answer1: pick(0), answer2: pick(1), answer3: pick(2), answer4: pick(3), answer5: pick(4), answer6: pick(5),
      cannot: () => { const field = document.getElementById('cannot'); if (!field) return false; field.focus(); return true; },
      zero: rate(0), one: rate(1), two: rate(2), three: rate(3), keyWrong: flag,
      submit: () => { send(false); }, next: () => { send(true); },
      draw: () => press('draw'), first: () => press('first-slice'), last: () => press('last-slice'),
      amend: () => (view.state === 'done' && !amending ? amend() : false),
      convention: () => convention(), lines: () => { const p = planes.current; if (!p) return false; p.controls.show.lines = !p.controls.show.lines; p.controls.drawAll(); return true; },
      mark: () => {
        const p = planes.current, marks = view.marks || [];
        if (!p || !marks.length) return false;
        p.mark = ((p.mark ?? -1) + 1) % marks.length;
        p.controls.goToMark(p.mark);
        return true;
      },
      reset: () => { const p = planes.current; if (!p) return false; for (const plane of view.series.planes) delete p.controls.cameras[plane]; p.preset(0); p.controls.refit(); return true; },
      ...Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => ['window' + (n + 1), () => { if (!planes.current) return false; planes.current.preset(n); return true; }])),
    });
    return () => { stop(); window.removeEventListener('keydown', space); window.removeEventListener('keyup', space); };
  });
  const convention = () => { const p = planes.current; if (!p || !view.series.oriented) return false; p.controls.show.neurological = !p.controls.show.neurological; setFlipped(p.controls.show.neurological); p.controls.drawAll(); return true; };

  const resolve = async (mine) => {
    const got = await api('/assignments/' + id);
    setConflict(null);
    const keep = mine && got.stage === view.stage;
    if (keep) work.version = got.version;
    take(got, keep);
    if (keep && !work.isCorrection) await work.save();
  };

  if (!view) return html`<main id="content" tabindex="-1" class="page">${problem ? html`<h1>Case</h1><p class="problem" role="alert">${problem}</p><p><a class="button" href="#">Back to my list</a></p>` : html`<p>Loading …</p>`}</main>`;
  const title = view.kind === 'wording' ? 'Wording' : view.kind === 'training' ? 'Training case' : view.purpose === 'adjudicate' ? 'Adjudication' : 'Case';
  const finished = (view.state === 'done' || view.state === 'signed') && !amending;
  const words = { unsaved: '', saved: 'Draft kept.', offline: 'Offline: your work is kept here and sent when the station can be reached.', sending: 'Sending …' }[state] || '';
  // The form may be out of sight: whoever presses a key sees here what it did.
  const { answers, cannot, confidence, score, flags } = draft, chosen = finished ? '' : draftWords(view.stage === 1 ? { answers, cannot, confidence } : { score, flags });
  return html`<main id="content" tabindex="-1" class=${'room ' + view.kind}>
    ${view.series ? html`<section class="pictures" aria-label="Scan" inert=${conflict ? true : null}><${Tools} view=${view} window_=${window_} flipped=${flipped} convention=${convention} planes=${planes} /><div ref=${box}></div></section>` : null}
    <section class="sheet" aria-label="Question" inert=${conflict ? true : null}>
      <p class="kicker">${title} · ${view.block ? 'block ' + view.block + ', ' : ''}${view.done} of ${view.cases} done ${view.stages === 2 ? ' · stage ' + view.stage + ' of 2' : ''}</p>
      ${view.kind === 'wording' ? html`<h1>Is this question well put?</h1><ol class="wordings">${view.wordings.map((w) => html`<li>${w}</li>`)}</ol>${view.options.length ? html`<p class="small">Options, for example: ${view.options[0].join(' · ')}</p>` : null}` : html`<h1 class="question">${view.question}</h1>`}
      ${view.feedback && finished ? html`<p class=${{ true: 'good-line', false: 'warn-line' }[view.feedback_right] || 'note'} role="status">${view.feedback}</p>` : null}
      ${view.frames.length ? html`<p class="asked-slice">About slice ${view.frames.map((n) => n + 1).join(', ')}. <button type="button" onClick=${() => planes.current && planes.current.go(view.frames[Math.floor(view.frames.length / 2)])}>Go to it</button></p>` : null}
      ${view.stage === 1 ? html`<${AnswerForm} view=${view} draft=${draft} change=${change} planes=${planes} />` : html`<${Revealed} view=${view} planes=${planes} />`}
      ${view.stage === 2 && view.readings ? html`<${Readings} view=${view} />` : null}
      ${view.stage === 2 ? (view.purpose === 'adjudicate' ? html`<${DecisionForm} draft=${draft} change=${change} done=${finished} amending=${amending} />` : html`<${RatingForm} view=${view} draft=${draft} change=${change} done=${finished} amending=${amending} />`) : null}
      <p class="small">Research reading. Not for diagnosis.</p>
      <div class="actions">${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
      <p class="small state" role="status">${[chosen, words].filter(Boolean).join(' · ')}</p>
      <div class="row">${finished ? html`<button type="button" class="primary" onClick=${() => openNext()}>Next case <kbd>${keyMap().next}</kbd></button>${view.state === 'done' ? html`<button type="button" onClick=${amend}>Amend <kbd>${keyMap().amend}</kbd></button>` : null}`
        : html`${view.stage === 2 && !amending ? html`<button type="button" class="primary" disabled=${state === 'sending'} onClick=${() => send(true)}>Submit, next <kbd title=${keyMap().next}>${keyMap().next.replace('Shift+', '⇧ ')}</kbd></button>` : null}
        <button type="button" class=${view.stage === 2 && !amending ? '' : 'primary'} disabled=${state === 'sending'} onClick=${() => send(false)}>${view.stage === 1 ? 'Lock answer and show the key' : amending ? 'Save correction' : 'Submit'} <kbd>${keyMap().submit}</kbd></button>${amending ? html`<button type="button" onClick=${() => take(view)}>Leave it as it was</button>` : null}`}</div></div>
    </section>
    ${conflict ? html`<div class="cover"><div class="dialog" ref=${dialog} tabindex="-1" role="alertdialog" aria-modal="true" aria-labelledby="conflict"><h2 id="conflict">Changed in another window</h2>
      <p>This case was ${conflict.state === view.state ? 'edited' : 'submitted'} in another window meanwhile. Nothing is lost.</p>
      ${draftWords(conflict.draft) ? html`<p class="small">There: ${draftWords(conflict.draft)}</p>` : null}
      <div class="row"><button type="button" class="primary" onClick=${() => resolve(true)}>Keep what is here</button><button type="button" onClick=${() => resolve(false)}>Take what is there</button></div></div></div>` : null}
  </main>`;
}

// What a draft holds, in the words of the form.
function draftWords(draft) {
  const yes = { true: 'yes', false: 'no' };
  const parts = {
    answer: inWords(draft.answers), 'cannot be told, because': draft.cannot, 'how sure': draft.confidence, score: draft.score, flags: (draft.flags || []).map(flagWords).join(', '),
    ...Object.fromEntries(Object.entries(draft.verdicts || {}).map(([name, said]) => [name, yes[said]])), comment: draft.comment, decision: draft.decision, 'key wrong': yes[draft.key_wrong], reason: draft.reason,
  };
  const unsaid = (said, name) => said === undefined || said === null || said === '' || (name === 'how sure' && !said);
  return Object.entries(parts).filter(([name, said]) => !unsaid(said, name)).map(([name, said]) => `${name}: ${said}`).join(' · ');
}

function Tools({ view, window_, flipped, convention, planes }) {
  const [low, high] = window_, map = keyMap();
  const show = (n) => Math.abs(n) >= 100 || Number.isInteger(n) ? Math.round(n) : n.toPrecision(3);
  return html`<div class="tools" role="group" aria-label="Window and view">
    <select aria-label="window" onChange=${(e) => { planes.current.preset(Number(e.target.value)); e.target.blur(); }}>${view.series.windows.map((w, n) => html`<option value=${n}>${w[0]} (${map['window' + (n + 1)] || ''})</option>`)}</select>
    <output>L ${show((low + high) / 2)} W ${show(high - low)}</output>
    ${view.series.oriented ? html`<button type="button" aria-pressed=${flipped} onClick=${convention}>${flipped ? 'Neurological: patient’s left is on the left' : 'Radiological: patient’s right is on the left'}</button>` : html`<span class="small">No orientation in this file: left and right are the picture’s.</span>`}
    ${view.series.oblique_degrees > 5 ? html`<span class="flag caution">oblique grid (${Math.round(view.series.oblique_degrees)}°), letters are nearest axis</span>` : null}
  </div>`;
}

function Revealed({ view, planes }) {
  const place = useRef(null);
  useEffect(() => {
    if (!view.reveal || !place.current) return undefined;
    const data = { runs: [], facts: view.reveal.facts, series: { s: { flags: view.reveal.notes } } };
    const detail = { ...view.reveal.detail, series: 's' };
    const draw = () => place.current.replaceChildren(...[flagList(data, detail), stepList(data, detail), factTable(data, detail)].filter(Boolean));
    draw();
    // Number lines are drawn for the width of the sheet: on a tablet that is turned, their words would shrink with them.
    const turned = window.matchMedia('(max-width: 1000px)');
    turned.addEventListener('change', draw);
    return () => turned.removeEventListener('change', draw);
  }, [view.id, view.stage]);
  if (!view.reveal) return null;
  const said = view.answer ? (view.answer.cannot ? 'cannot be told: ' + view.answer.cannot : inWords(view.answer.answers)) : '';
  const keyFrames = Object.values(view.reveal.places || {}).flatMap((place) => (place.form === 'boxes' ? boxesIn(place.key).map((box) => box.frame) : (place.key.match(/\d+/g) || []).map((n) => n - 1)));
  return html`<div class="revealed">${view.options.length ? html`<ul class="options">${view.options.map(([letter, words]) => html`<li class=${view.reveal.right.includes(letter) ? 'right' : ''}><span class="letter">${letter}</span><span class="said-key">${words}</span>${view.reveal.right.includes(letter) ? html`<span class="key">✓ key</span>` : null}</li>`)}</ul>` : null}
    <p class="key-line-words"><b>Key:</b> ${view.reveal.key}</p>${keyFrames.length ? html`<p><button type="button" onClick=${() => planes.current.go(keyFrames[Math.floor(keyFrames.length / 2)])}>Go to the key’s slice</button></p>` : null}${said ? html`<p><b>You said:</b> ${said} <span class="small">(confidence ${view.answer.confidence}; locked)</span></p>` : null}
    <details open><summary>Why the key says so</summary><div ref=${place}></div></details></div>`;
}

function Readings({ view }) {
  return html`<div class="readings"><h2>Readings</h2>${view.readings.map((r) => html`<section class="reading"><h3>Reader ${r.reader}</h3>
    <p>${r.cannot ? 'cannot be told: ' + r.cannot : inWords(r.answers)}${r.confidence ? ` (confidence ${r.confidence})` : ''}${r.score !== undefined && r.score !== null ? ` · score ${r.score}` : ''}</p>
    ${r.flags && r.flags.length ? html`<p>${r.flags.map((f) => html`<span class="flag">${flagWords(f)}</span> `)}</p>` : null}${r.comment ? html`<p class="small">“${r.comment}”</p>` : null}</section>`)}</div>`;
}
