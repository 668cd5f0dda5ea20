// The station's pages. What is shown is told by the fragment; a password can be asked for over any of them, and nothing is lost.
import { html, render, useState, useEffect, useRef } from './preact-htm.js';
import { api, setToken, onLocked, onReach, ApiError, Offline } from './api.js';
import { keyMap, listen } from './keys.js';
import { Room } from './room.js';
import { Desk, Trail } from './desk.js';
import { Help } from './help.js';
import { MyList } from './list.js';
import { saveAll } from './work.js';

export const say = (words) => { document.getElementById('live').textContent = words; };

function Password({ me, why, done }) {
  const [code, setCode] = useState(me ? me.code : ''), [password, setPassword] = useState(''), [invite, setInvite] = useState('');
  const [invited, setInvited] = useState(false), [problem, setProblem] = useState(''), [busy, setBusy] = useState(false);
  const locked = why === 'locked', form = useRef(null), [ways, setWays] = useState({});
  useEffect(() => { api('/auth/ways', { signingIn: true }).then(setWays).catch(() => {}); }, []);
  // A provider's sign-in leads away: over a case it has a window of its own, and this one waits, with all that is not saved yet.
  useEffect(() => {
    if (!why || !me || !ways.openid) return undefined;
    const timer = setInterval(() => api('/me', { signingIn: true }).then((held) => held.code === me.code && done(held)).catch(() => {}), 1500);
    return () => clearInterval(timer);
  }, [why, ways]);
  // A browser heeds `autofocus` once a page: over a case, the field to type in has to be told.
  useEffect(() => { const field = form.current.querySelector('input:not(:disabled)'); if (field) field.focus(); }, [invited, why]);
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const path = invited ? '/auth/invite' : locked ? '/auth/unlock' : '/auth/login';
      const body = invited ? { token: invite.trim(), password } : locked ? { password } : { code: code.trim(), password };
      done(await api(path, { method: 'POST', body, signingIn: true }));
    } catch (error) {
      if (locked && error instanceof ApiError && error.body.title && error.body.title.includes('session has ended')) done(null, 'ended');
      setProblem(error instanceof Offline ? 'The station cannot be reached.' : error.message);
      setBusy(false);
    }
  };
  return html`<main class="sign-in"><form ref=${form} onSubmit=${send} aria-labelledby="sign-title">
    <p class="kicker">Situs reading station</p>
    <h1 id="sign-title">${locked ? 'Locked' : why === 'ended' ? 'Sign in again' : 'Sign in'}</h1>
    ${why ? html`<p class="note">${location.hash.startsWith('#case/') ? 'Your work on this case is kept.' : 'Your work is kept.'}</p>` : null}
    ${invited ? html`<label>Invitation<input value=${invite} onInput=${(e) => setInvite(e.target.value)} autocomplete="off" required autofocus /></label>`
      : html`<label>Code<input value=${code} onInput=${(e) => setCode(e.target.value)} autocomplete="username" required disabled=${locked || (why && me)} autofocus=${!me} /></label>`}
    <label>${invited ? 'New password (12 characters or more)' : 'Password'}<input type="password" value=${password} onInput=${(e) => setPassword(e.target.value)} autocomplete=${invited ? 'new-password' : 'current-password'} required minlength=${invited ? 12 : null} autofocus=${!!me} /></label>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    <div class="row"><button class="primary" disabled=${busy}>${locked ? 'Unlock' : invited ? 'Set password' : 'Sign in'}</button>
    ${why ? null : html`<button type="button" class="link" onClick=${() => setInvited(!invited)}>${invited ? 'I have a password' : 'I have an invitation'}</button>`}</div>
    ${ways.openid && !invited ? html`<p><a class="button" href="/api/v1/auth/openid/start" target=${why ? '_blank' : null}>Sign in through your institution</a></p>` : null}
    <p class="small">A research tool. Not for diagnosis.</p>
  </form></main>`;
}

function App() {
  const [me, setMe] = useState(undefined), [over, setOver] = useState(null), [isReached, setReached] = useState(true), [where, setWhere] = useState(location.hash.slice(1));
  // Several requests may meet the lock at once (a draft, a slice): all of them go on afterwards.
  const waiting = useRef([]);
  useEffect(() => {
    const moved = () => setWhere(location.hash.slice(1));
    window.addEventListener('hashchange', moved);
    onReach(setReached);
    onLocked((why) => new Promise((resolve) => { waiting.current.push(resolve); setOver({ why }); }));
    api('/me', { signingIn: true }).then(entered).catch((error) => (error.status === 423 ? setOver({ why: 'locked' }) : setMe(null)));
    return () => window.removeEventListener('hashchange', moved);
  }, []);
  // The screen locks by itself; the server does so too, whatever the page says.
  useEffect(() => {
    if (!me) return undefined;
    let last = Date.now();
    const alive = () => { last = Date.now(); };
    const events = ['pointermove', 'keydown', 'wheel'];
    events.forEach((name) => window.addEventListener(name, alive, { passive: true }));
    const timer = setInterval(() => { if (Date.now() - last > me.idle_seconds * 1000 && !over) lock(); }, 5000);
    return () => { clearInterval(timer); events.forEach((name) => window.removeEventListener(name, alive)); };
  }, [me, over]);
  const entered = (held) => { setToken(held.token, held.code); setMe(held); };
  const lock = async () => { setOver({ why: 'locked' }); await saveAll(); await api('/auth/lock', { method: 'POST' }).catch(() => {}); };
  const given = (held, other) => {
    if (other) { setOver({ ...over, why: other }); return; }
    entered(held);
    waiting.current.splice(0).forEach((resolve) => resolve());
    setOver(null);
  };
  useEffect(() => (me ? listen({ lock, help: () => { location.hash = 'help'; } }) : undefined), [me]);
  if (me === undefined && !over) return null;
  if (!me && !over) return html`<${Password} done=${entered} />`;
  const out = async () => { await saveAll(); await api('/auth/logout', { method: 'POST' }).catch(() => {}); location.hash = ''; location.reload(); };
  return html`<div class=${over ? 'behind' : ''} inert=${over ? true : null}>${me ? html`<${Frame} me=${me} where=${where} lock=${lock} out=${out} isReached=${isReached} />` : null}</div>
    ${over ? html`<div class="cover"><${Password} me=${me} why=${over.why} done=${given} /></div>` : null}`;
}

function Frame({ me, where, lock, out, isReached }) {
  const [page, id] = where.split('/');
  const has = (...roles) => roles.some((role) => me.roles.includes(role));
  const links = [['', 'My list', has('reader', 'adjudicator')], ['desk', 'Study desk', has('coordinator', 'auditor')], ['trail', 'Audit trail', has('auditor', 'coordinator')], ['help', 'Help and keys', true]];
  const start = has('reader', 'adjudicator') ? '' : 'desk';
  const shown = page === 'case' || links.some(([to, , may]) => may && to === page) ? page : start;
  const main = shown === 'case' ? html`<${Room} key=${id} id=${id} me=${me} />` : shown === 'desk' ? html`<${Desk} me=${me} />`
    : shown === 'trail' ? html`<${Trail} />` : shown === 'help' ? html`<${Help} />` : html`<${MyList} me=${me} />`;
  return html`<a class="skip" href="#content" onClick=${(e) => { e.preventDefault(); document.querySelector('main').focus(); }}>Skip to content</a>
    <header class="bar"><b>Situs</b><nav aria-label="Pages">${links.filter((l) => l[2]).map(([to, words]) => html`<a href=${'#' + to} aria-current=${shown === to ? 'page' : null}>${words}</a>`)}</nav>
      <span class="grow"></span><span class="who">${me.code}</span><button type="button" onClick=${lock} title=${keyMap().lock}>Lock</button><button type="button" onClick=${out}>Sign out</button></header>
    <p class="reach" role="status">${isReached ? '' : 'The station cannot be reached. Trying again …'}</p>
    ${main}`;
}

render(html`<${App} />`, document.getElementById('app'));
