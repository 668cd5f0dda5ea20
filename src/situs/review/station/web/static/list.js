// The reader's own blocks; never anybody else's numbers.
import { html, useState, useEffect } from './preact-htm.js';
import { api } from './api.js';

export async function openNext() {
  const next = await api('/next');
  location.hash = next.id ? 'case/' + next.id : '';
  return next;
}

export function MyList() {
  const [blocks, setBlocks] = useState(null), [next, setNext] = useState(null), [problem, setProblem] = useState('');
  const load = () => Promise.all([api('/blocks'), api('/next')]).then(([b, n]) => { setBlocks(b); setNext(n); });
  useEffect(() => { load(); }, []);
  if (!blocks) return html`<main tabindex="-1" class="page"><p>Loading …</p></main>`;
  const sign = (block) => api(`/blocks/${block}/sign`, { method: 'POST' }).then(load).catch((error) => setProblem(error.message));
  return html`<main tabindex="-1" class="page"><h1>My list</h1>
    ${next.id ? html`<p><a class="primary button" href=${'#case/' + next.id}>${blocks.some((b) => b.done) ? 'Go on' : 'Begin'}</a></p>`
      : html`<p class="note">${next.waiting ? 'Nothing is due now; a few cases come later.' : 'Nothing is open. Thank you.'}</p>`}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${blocks.length ? html`<div class="scroll"><table><thead><tr><th scope="col">Block</th><th scope="col">Progress</th><th scope="col">Signed</th></tr></thead>
      <tbody>${blocks.map((b) => html`<tr><th scope="row">${b.name}</th>
        <td><progress max=${b.cases} value=${b.done} aria-label=${b.name + ' progress'}></progress> ${b.done} of ${b.cases}</td>
        <td>${b.signed ? 'signed' : b.done === b.cases && b.name.startsWith('block') ? html`<button type="button" onClick=${() => sign(b.block)}>Sign ${b.name}</button>` : ''}</td></tr>`)}</tbody></table></div>`
      : html`<p class="note">No cases have been assigned to you yet.</p>`}
    <p class="small">A signed block is closed: nothing in it can be amended.</p></main>`;
}
