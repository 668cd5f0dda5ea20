// The reader's own blocks; never anybody else's numbers.
import { html, useState, useEffect } from './preact-htm.js';
import { api } from './api.js';

export async function openNext() {
  const next = await api('/next');
  location.hash = next.id ? 'case/' + next.id : '';
  return next;
}

export function MyList() {
  const [page, setPage] = useState(null), [next, setNext] = useState(null), [problem, setProblem] = useState('');
  const load = (first) => Promise.all([api('/blocks' + (first === undefined ? '' : '?first=' + first)), api('/next')]).then(([b, n]) => { setPage(b); setNext(n); });
  useEffect(() => { load(); }, []);
  if (!page) return html`<main id="content" tabindex="-1" class="page"><p>Loading …</p></main>`;
  const { blocks } = page, last = page.first + blocks.length;
  const several = new Set(blocks.map((b) => b.project)).size > 1;
  const sign = (b) => api(`/blocks/${b.project}/${b.block}/sign`, { method: 'POST' }).then(() => load(page.first)).catch((error) => setProblem(error.message));
  return html`<main id="content" tabindex="-1" class="page"><h1>My list</h1>
    ${next.id ? html`<p><a class="primary button" href=${'#case/' + next.id}>${page.done ? 'Continue' : 'Begin'}</a></p>`
      : html`<p class="note">${next.waiting ? 'Nothing is due now; a few cases come later.' + (blocks.some((b) => b.can_sign) ? ' You can sign what you have read.' : '') : blocks.length ? 'Nothing is open. Thank you.' : 'No cases have been assigned to you yet.'}</p>`}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${blocks.length ? html`<div class="scroll"><table><thead><tr>${several ? html`<th scope="col">Study</th>` : null}<th scope="col">Block</th><th scope="col">Progress</th><th scope="col">Signed</th></tr></thead>
      <tbody>${blocks.map((b) => html`<tr>${several ? html`<td>${b.project_name}</td>` : null}<th scope="row">${b.name}</th>
        <td><progress max=${b.cases} value=${b.done} aria-label=${b.name + ' progress'}></progress> ${b.done} of ${b.cases}</td>
        <td>${b.signed ? 'signed' : b.can_sign ? html`<button type="button" onClick=${() => sign(b)}>Sign ${b.name}</button>` : ''}</td></tr>`)}</tbody></table></div>
      ${page.of > blocks.length ? html`<div class="row"><button type="button" disabled=${!page.first} onClick=${() => load(page.first - 1)}>Earlier blocks</button>
        <span>Blocks ${page.first + 1}–${last} of ${page.of} · ${page.done} of ${page.cases} cases done</span>
        <button type="button" disabled=${last >= page.of} onClick=${() => load(last)}>Later blocks</button></div>` : null}
      <p class="small">A signed block is closed: nothing in it can be amended.</p>` : null}</main>`;
}
