// Help and the key map, which can be changed.
import { html, useState } from './preact-htm.js';
import { ACTIONS, FIXED, keyMap, nameOf, remap } from './keys.js';

export function Help() {
  const [map, setMap] = useState(keyMap()), [asking, setAsking] = useState(''), [problem, setProblem] = useState('');
  const press = (action) => (event) => {
    if (event.key === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') { setAsking(''); return; }
    if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    setProblem(remap(action, nameOf(event)) ? '' : `${nameOf(event)} is already taken.`);
    setMap(keyMap());
    setAsking('');
  };
  return html`<main id="content" tabindex="-1" class="page"><h1>Help and keys</h1>
    <p class="lead">You read each case twice. <b>First without help:</b> look at the scan, answer, say how sure you are (1 guess, 2 fairly sure, 3 sure). Your answer is then locked and the key is shown. <b>Then judge the key:</b> 0 not usable, 1 usable with doubts, 2 good; tick what is wrong.</p>
    <p class="lead">Unfinished work is kept at every change, also when the screen locks or the network fails. Slices begin in the middle of the scan, never where the answer is. Pictures are radiological unless the page says otherwise: the patient's right is on the left.</p>
    <h2>Mouse and slices</h2><div class="scroll"><table><tbody>${FIXED.map(([key, what]) => html`<tr><th scope="row"><kbd>${key}</kbd></th><td>${what}</td></tr>`)}</tbody></table></div>
    <h2>Keys</h2><p class="note">Keys do nothing while you type. Choose Change, then press the new key; Escape cancels.</p>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    <div class="scroll"><table class="middle"><thead><tr><th scope="col">Key</th><th scope="col">What it does</th><th scope="col">Change it</th></tr></thead><tbody>${ACTIONS.map(([action, usual, what]) => html`<tr><th scope="row"><kbd>${map[action]}</kbd></th><td>${what}</td>
      <td><button type="button" onClick=${() => setAsking(action)} onKeyDown=${asking === action ? press(action) : null} aria-label=${'change the key for ' + what}>${asking === action ? 'Press a key …' : 'Change'}</button>
      ${map[action] === usual ? null : html`<button type="button" onClick=${() => { remap(action, ''); setMap(keyMap()); }}>Default</button>`}</td></tr>`)}</tbody></table></div></main>`;
}
