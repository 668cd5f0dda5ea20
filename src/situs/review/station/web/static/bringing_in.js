// What a coordinator brings in: samples of benches that the administrator offers, and accounts.
import { html, useState, useEffect } from './preact-htm.js';
import { api } from './api.js';

const FIRST = { project: '', bench: '', protocol: 'default', items: 200, training: 5, seed: 0, wordings: true };

export function NewProject({ done }) {
  const [offer, setOffer] = useState(null), [form, setForm] = useState(FIRST), [problem, setProblem] = useState('');
  const look = () => api('/benches').then((got) => { setOffer(got); return got; });
  useEffect(() => { look(); }, []);
  const running = offer && offer.last && offer.last.state === 'running';
  // While a sample is taken in, ask how far it is; afterwards the project stands in the list above.
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => look().then((got) => { if (got.last.state !== 'running') done(); }), 1000);
    return () => clearInterval(timer);
  }, [running]);
  if (!offer) return null;
  if (!offer.offered) return html`<p class="small">To import benches on this page, the administrator starts the station with <code>--benches FOLDER</code>; on its machine: <code>situs review import DIR BENCH --project NAME --items 200</code>.</p>`;
  const set = (name, value) => setForm({ ...form, [name]: value });
  const send = (event) => {
    event.preventDefault();
    setProblem('');
    api('/projects', { method: 'POST', body: { ...form, bench: form.bench || offer.benches[0] } }).then(look).catch((error) => setProblem(error.message));
  };
  const count = (name, words, least) => html`<label class="field inline">${words}<input type="number" min=${least} value=${form[name]} onInput=${(e) => set(name, Number(e.target.value))} required /></label>`;
  return html`<section class="card"><h2>New project</h2>
    ${offer.benches.length ? html`<form onSubmit=${send} class="bring-in"><div class="row">
      <label class="field inline">Name<input value=${form.project} maxlength="40" pattern="[A-Za-z0-9][A-Za-z0-9 ._\\-]*" onInput=${(e) => set('project', e.target.value)} required /></label>
      <label class="field inline">Bench<select onChange=${(e) => set('bench', e.target.value)}>${offer.benches.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
      <label class="field inline">Protocol<select onChange=${(e) => set('protocol', e.target.value)}>${Object.keys(offer.protocols).map((name) => html`<option value=${name} selected=${name === form.protocol}>${name}</option>`)}</select></label>
      ${count('items', 'Items', 1)}${count('training', 'Training cases', 0)}${count('seed', 'Seed', 0)}
      <label class="check"><input type="checkbox" checked=${form.wordings} onChange=${(e) => set('wordings', e.target.checked)} />Also the wordings</label></div>
      <p class="small">${offer.protocols[form.protocol]}</p>
      <button class="primary" disabled=${running}>Import a random sample</button></form>` : html`<p class="note">The administrator’s folder holds no bench.</p>`}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${offer.last ? html`<p role="status" class=${offer.last.state === 'failed' ? 'problem' : 'small'}>${offer.last.project}: ${{ running: offer.last.of ? `${offer.last.done} of ${offer.last.of} items taken in` : 'reading the bench …', done: 'imported', failed: offer.last.problem }[offer.last.state]}</p>` : null}</section>`;
}

export function NewAccount({ people, done }) {
  const [code, setCode] = useState(''), [role, setRole] = useState('reader'), [again, setAgain] = useState(''), [told, setTold] = useState(null), [problem, setProblem] = useState('');
  const ask = (path, body) => api(path, { method: 'POST', body }).then(({ token }) => { setProblem(''); setTold({ code: body.code, token }); setCode(''); setAgain(''); done(); }).catch((error) => setProblem(error.message));
  const add = (event) => { event.preventDefault(); ask('/users', { code: code.trim(), roles: [role] }); };
  const invite = (event) => { event.preventDefault(); if (again) ask('/users/invite', { code: again }); };
  return html`<div class="row"><form onSubmit=${add} class="row"><label class="field inline">New account (a code, not a name)<input value=${code} maxlength="40" onInput=${(e) => setCode(e.target.value)} autocomplete="off" required /></label>
      <label class="field inline">Role<select onChange=${(e) => setRole(e.target.value)}>${['reader', 'adjudicator', 'coordinator', 'auditor'].map((name) => html`<option value=${name}>${name}</option>`)}</select></label><button>Add</button></form>
    <form onSubmit=${invite} class="row"><label class="field inline">Invite again<select value=${again} onChange=${(e) => setAgain(e.target.value)}><option value="">choose …</option>${people.map((u) => html`<option value=${u.code}>${u.code}</option>`)}</select></label><button disabled=${!again}>Invite</button></form></div>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${told ? html`<p class="note" role="status">One-time token for ${told.code}, valid for a week, shown only here: <code>${told.token}</code></p>` : null}`;
}
