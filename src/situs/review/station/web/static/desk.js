// The study desk and the audit trail.
import { html, useState, useEffect } from './preact-htm.js';
import { api, download, saveAs } from './api.js';
import { NewProject, NewAccount } from './bringing_in.js';

// A true minus, and no minus before nothing.
const fixed = (value, digits) => value.toFixed(digits).replace(/^-(?=0\.0*$)/, '').replace('-', '−');
const number = (value, ci) => value === null || value === undefined ? '–' : fixed(value, 3) + (ci ? ` (${fixed(ci[0], 2)} to ${fixed(ci[1], 2)})` : '');
const KINDS = { item: ['item', 'items'], wording: ['wording', 'wordings'], catch: ['planted error', 'planted errors'], repeat: ['hidden repeat', 'hidden repeats'], training: ['training case', 'training cases'] };
const unitWords = (units) => Object.entries(KINDS).filter(([kind]) => units[kind]).map(([kind, words]) => `${units[kind]} ${words[units[kind] === 1 ? 0 : 1]}`).join(', ');
const STATES = { draft: 'not handed out', reading: 'being read', locked: 'locked' };

const openCases = (progress) => { const n = Object.values(progress ? progress.readers : {}).reduce((sum, one) => sum + one.open, 0); return n === 1 ? '1 open case is' : `${n} open cases are`; };

export function Desk({ me }) {
  const [projects, setProjects] = useState(null), [people, setPeople] = useState([]);
  const leads = me.roles.includes('coordinator');
  const load = () => Promise.all([api('/projects').then(setProjects), leads ? api('/readers').then(setPeople) : null]);
  useEffect(() => { load(); }, []);
  if (!projects) return html`<main id="content" tabindex="-1" class="page"><p>Loading …</p></main>`;
  return html`<main id="content" tabindex="-1" class="page"><h1>Study desk</h1>
    ${projects.length ? projects.map((p) => html`<${Project} key=${p.id} project=${p} people=${people} may=${leads} reload=${load} />`) : html`<p class="note">No project yet.</p>`}
    ${leads ? html`<${NewProject} done=${load} />` : null}
    ${people.length ? html`<h2>Accounts</h2><div class="scroll"><table><thead><tr><th scope="col">Code</th><th scope="col">Roles</th><th scope="col">Active</th></tr></thead><tbody>${people.map((u) => html`<tr><th scope="row">${u.code}</th><td>${u.roles.join(', ')}</td><td>${u.active ? 'yes' : 'no'}</td></tr>`)}</tbody></table></div>` : null}
    ${leads ? html`<${NewAccount} people=${people} done=${load} />` : null}</main>`;
}

function Project({ project, people, may, reload }) {
  const [chosen, setChosen] = useState([]), [plan, setPlan] = useState(null), [progress, setProgress] = useState(null), [found, setFound] = useState(null), [problem, setProblem] = useState(''), [leaving, setLeaving] = useState(''), [closing, setClosing] = useState(false);
  const readers = people.filter((u) => u.active && u.roles.includes('reader'));
  const at = '/projects/' + project.id;
  useEffect(() => {
    if (project.state !== 'draft') api(at + '/progress').then(setProgress);
    if (project.state === 'locked') api(at + '/agreement').then(setFound);
  }, [project.state]);
  const act = (path, body, then) => api(at + path, { method: 'POST', body }).then((got) => { setProblem(''); then(got); }).catch((error) => setProblem(error.message));
  const released = () => { setLeaving(''); api(at + '/progress').then(setProgress); reload(); };
  const flip = (code) => { setPlan(null); setChosen(chosen.includes(code) ? chosen.filter((c) => c !== code) : [...chosen, code]); };
  return html`<section class="card"><h2>${project.name} <span class="tag">${STATES[project.state]}</span></h2>
    <p>${project.about}</p><p class="small">Protocol ${project.protocol}, <code>${project.protocol_hash.slice(0, 12)}</code> · from ${project.bench} · ${unitWords(project.units)}</p>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${may && project.state === 'draft' ? html`<fieldset class="flag-list"><legend>Readers</legend>${readers.map((u) => html`<label><input type="checkbox" checked=${chosen.includes(u.code)} onChange=${() => flip(u.code)} />${u.code}</label>`)}</fieldset>
      <div class="row"><button type="button" onClick=${() => act('/preview', { readers: chosen }, setPlan)}>Preview the assignment</button>
      ${plan ? html`<button type="button" class="primary" onClick=${() => act('/freeze', { readers: chosen }, reload)}>Freeze and hand out</button>` : null}</div>
      ${plan ? html`<p>${plan.reads} reads; ${plan.read_by_all} units read by all. ${Object.entries(plan.loads).map(([c, n]) => `${c}: ${n}`).join(' · ')}</p><p class="small">Shared: ${Object.entries(plan.pairs).map(([c, n]) => `${c}: ${n}`).join(' · ')}</p>${plan.warnings.map((w) => html`<p class="warn-line">${w}</p>`)}` : null}` : null}
    ${progress ? html`<div class="scroll"><table><thead><tr><th scope="col">Reader</th><th scope="col" class="num">Done</th><th scope="col" class="num">Open</th><th scope="col" class="num">Withdrawn</th></tr></thead><tbody>${Object.entries(progress.readers).map(([c, n]) => html`<tr><th scope="row">${c}</th><td class="num">${n.done}</td><td class="num">${n.open}</td><td class="num">${n.withdrawn}</td></tr>`)}</tbody></table></div>${progress.alarms.map((w) => html`<p class="warn-line">${w}</p>`)}` : null}
    ${may && project.state === 'reading' ? html`<div class="row"><label class="field inline">Somebody leaves: <select value=${leaving} onChange=${(e) => setLeaving(e.target.value)}><option value="">choose …</option>${people.filter((u) => u.roles.some((role) => ['reader', 'adjudicator'].includes(role))).map((u) => html`<option value=${u.code}>${u.code}</option>`)}</select></label>
      ${leaving ? html`<button type="button" onClick=${() => act('/release', { reader: leaving }, released)}>Give ${leaving}’s unfinished cases to others</button>` : null}
      <button type="button" aria-expanded=${closing} onClick=${() => setClosing(!closing)}>Lock reading and show agreement</button></div><p class="small">Agreement is hidden until reading is locked.</p>
      ${closing ? html`<p class="warn-line">Locking is final: nobody reads or amends after it, and ${openCases(progress)} withdrawn.</p><div class="row"><button type="button" class="primary" onClick=${() => act('/lock', {}, reload)}>Lock for good</button><button type="button" onClick=${() => setClosing(false)}>Go on reading</button></div>` : null}` : null}
    ${found ? html`<${Agreement} found=${found} project=${project.name} /><div class="row"><button type="button" onClick=${() => download(at + '/export', project.name + '.zip').catch((error) => setProblem(error.message))}>Download the results</button></div>
      <p class="small">Readings, statistics, decisions, audit sheet and the whole record; runs and volumes are written by <code>situs review export</code>.</p>` : null}</section>`;
}

function Agreement({ found, project }) {
  const columns = [['raw', 'Equal'], ...(found.agreement.place ? [['overlap', 'Overlap']] : []), ['ac1', 'AC1'], ['ac2', 'AC2'], ['alpha', 'α'], ['kappa', 'Fleiss κ'], ['conger', 'Conger κ'], ['weighted_kappa', 'Weighted κ']];
  // The reason is long for a column of figures: it stands below the table, once.
  const cell = (entry, key) => entry[key + '_note'] ? 'not estimable' : number(entry[key], entry[key + '_ci95']);
  const reasons = [...new Set(Object.values(found.agreement).flatMap((entry) => columns.map(([key]) => entry[key + '_note'])).filter(Boolean))];
  const errors = found.key_errors;
  return html`<h3>Agreement</h3><div class="scroll" tabindex="0" role="region" aria-label=${'Agreement, ' + project}><table class="dense"><thead><tr><th scope="col">Question</th><th scope="col" class="num">Units</th>${columns.map(([, w]) => html`<th scope="col">${w}</th>`)}</tr></thead>
    <tbody>${Object.entries(found.agreement).map(([name, entry]) => html`<tr><th scope="row">${name}</th><td class="num">${entry.n}</td>${columns.map(([key]) => html`<td>${cell(entry, key)}</td>`)}</tr>`)}</tbody></table></div>
    <p class="small">95 % intervals by patient; none under ten patients. ${[...reasons, ...found.notes].map((words) => words[0].toUpperCase() + words.slice(1) + '.').join(' ')}</p>
    <h3>Key errors</h3><p>${errors.n ? `${(100 * errors.value).toFixed(1)} % of ${errors.n} ${errors.n === 1 ? 'key' : 'keys'} (exact 95 % interval ${errors.ci95.map((v) => (100 * v).toFixed(1)).join(' – ')} %).` : 'No key was decided on.'} ${unsettled(errors.states.open)}</p>
    <h3>Readers</h3><div class="scroll"><table><thead><tr><th scope="col">Reader</th><th scope="col">Unaided answers right</th><th scope="col">Planted errors seen</th><th scope="col">Same on repeats</th>${found.agreement.place ? html`<th scope="col">Overlap with the key</th>` : null}</tr></thead><tbody>${Object.entries(found.accuracy).map(([c, a]) => html`<tr><th scope="row">${c}</th><td>${a.n ? `${number(a.value, a.ci95)}, ${a.n} answers` : '–'}</td><td>${found.catch[c] ? number(found.catch[c].value, found.catch[c].ci95) : '–'}</td><td>${found.within_reader[c] ? number(found.within_reader[c].value, found.within_reader[c].ci95) : '–'}</td>${found.agreement.place ? html`<td>${found.place_overlap[c] ? `${number(found.place_overlap[c].value, found.place_overlap[c].ci95)}, ${found.place_overlap[c].n} answers` : '–'}</td>` : null}</tr>`)}</tbody></table></div>`;
}

// A dispute that nobody settled is in neither count: without a word on it, a low rate would look like a result.
const unsettled = (n) => (n ? `${n} disputed ${n === 1 ? 'key was' : 'keys were'} not settled, and ${n === 1 ? 'is' : 'are'} not counted.` : '');

const DETAILS_SHOWN = 240; // characters: the hashes of a large sample would fill pages

function eventDetails(body) {
  const text = Object.entries(body).filter(([k]) => !/^(table|row)$|digest$/.test(k)).map(([k, v]) => `${k} ${typeof v === 'object' ? JSON.stringify(v) : v}`).join(' · ');
  return text.length <= DETAILS_SHOWN ? text : html`<details><summary>${text.slice(0, DETAILS_SHOWN)} …</summary>${text}</details>`;
}

export function Trail() {
  const [events, setEvents] = useState([]), [after, setAfter] = useState(0), [kind, setKind] = useState(''), [by, setBy] = useState(''), [checked, setChecked] = useState(null);
  useEffect(() => { api(`/events?after=${after}&kind=${encodeURIComponent(kind)}&by=${encodeURIComponent(by)}`).then(setEvents); }, [after, kind, by]);
  const save = () => saveAs(new Blob([events.map((e) => JSON.stringify(e)).join('\n')], { type: 'application/x-ndjson' }), 'events.jsonl');
  return html`<main id="content" tabindex="-1" class="page"><h1>Audit trail</h1>
    <div class="row"><label class="field inline">Kind <input list="kinds" value=${kind} onChange=${(e) => { setAfter(0); setKind(e.target.value); }} /></label><label class="field inline">By <input value=${by} onChange=${(e) => { setAfter(0); setBy(e.target.value); }} /></label>
      <button type="button" onClick=${() => api('/verify').then(setChecked)}>Verify the record</button><button type="button" onClick=${save}>Save these events</button></div>
    <datalist id="kinds">${[...new Set(events.map((e) => e.kind))].map((name) => html`<option value=${name} />`)}</datalist>
    ${checked ? html`<p role="status" class=${checked.ok ? 'good-line' : 'problem'}>${checked.ok ? `Intact: ${checked.events} events, head ${checked.head.slice(0, 16)}` : checked.problems.join('; ')}</p>` : null}
    <div class="scroll" tabindex="0" role="region" aria-label="Events"><table class="dense"><thead><tr><th scope="col">#</th><th scope="col">When (UTC)</th><th scope="col">By</th><th scope="col">What</th><th scope="col">Details</th></tr></thead><tbody>${events.map((e) => html`<tr><td class="num">${e.sequence}</td><td class="nowrap">${new Date(e.at * 1000).toISOString().slice(0, 19).replace('T', ' ')}</td><td>${e.actor}</td><td>${e.kind}</td><td class="mono">${eventDetails(e.body)}</td></tr>`)}</tbody></table></div>
    ${events.length || !(kind || by) ? null : html`<p class="note">No events of this kind, by this person.</p>`}
    <div class="row">${after ? html`<button type="button" onClick=${() => setAfter(0)}>From the start</button>` : null}${events.length === 100 ? html`<button type="button" onClick=${() => setAfter(events[99].sequence)}>More</button>` : null}</div></main>`;
}
