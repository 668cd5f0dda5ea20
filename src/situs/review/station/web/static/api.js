// Talking to the station: the page's token on every write, one retry after signing in again, and a word about being offline.
let token = '', code = '';
let askPassword = async () => {}, tellReach = () => {};

// Messages of the interface begin small and end open, as in a terminal.
const sentence = (words) => words[0].toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.');

export class ApiError extends Error {
  constructor(status, body) {
    super(sentence(body.title || 'the station answered ' + status));
    this.status = status;
    this.body = body;
  }
}
export class Offline extends Error {}

export const setToken = (value, who) => { token = value; code = who; };
// Whoever signed in anew in another tab has another token: true if a write refused for the old one may be sent again.
async function signedInElsewhere() {
  const held = await api('/me', { signingIn: true }).catch(() => null);
  if (!held || held.token === token) return false;
  if (held.code === code) setToken(held.token, held.code);
  else await askPassword('ended'); // somebody else: this page's work is not theirs
  return true;
}
// What shows the sign-in or the locked screen over the page, and resolves once the password was given.
export const onLocked = (ask) => { askPassword = ask; };
// What says over every page that the station cannot be reached, and that it can again.
export const onReach = (tell) => { tellReach = tell; };
const nextTry = (pause) => new Promise((done) => { setTimeout(done, pause); window.addEventListener('online', done, { once: true }); });
export const freshKey = () => crypto.randomUUID();

const OUTLIVES = 60000; // characters: what a browser goes on sending when its page is closed

export async function api(path, { method = 'GET', body, version, key, signingIn = false } = {}) {
  const headers = { Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (version !== undefined) headers['If-Match'] = `"v${version}"`;
  if (key) headers['Idempotency-Key'] = key;
  if (method !== 'GET') headers['X-Situs-Token'] = token;
  let answer;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  try {
    answer = await fetch('/api/v1' + path, { method, headers, body: sent, credentials: 'same-origin', keepalive: method === 'PUT' && sent.length < OUTLIVES });
  } catch (error) {
    tellReach(false);
    if (method !== 'GET' || signingIn) throw new Offline('the station cannot be reached');
    await nextTry(2000); // a page that only looks waits: it would stay empty otherwise
    return api(path);
  }
  tellReach(true);
  const data = await answer.json().catch(() => ({}));
  if (answer.ok) return data;
  if ((answer.status === 401 || answer.status === 423) && !signingIn) {
    await askPassword(answer.status === 423 ? 'locked' : 'ended');
    return api(path, { method, body, version, key });
  }
  if (answer.status === 403 && method !== 'GET' && !signingIn && await signedInElsewhere()) return api(path, { method, body, version, key });
  throw new ApiError(answer.status, data);
}

// A submit that is sent until it is heard: the same key each time, so that it counts once.
export async function submit(path, options, waiting) {
  const key = freshKey();
  for (let pause = 1000; ; pause = Math.min(pause * 1.6, 8000)) {
    try {
      return await api(path, { ...options, method: 'POST', key });
    } catch (error) {
      if (!(error instanceof Offline)) throw error;
      waiting(true);
      await nextTry(pause);
    }
  }
}

// A file made by the station, saved by the browser.
export async function download(path, name) {
  const answer = await fetch('/api/v1' + path, { method: 'POST', headers: { 'X-Situs-Token': token }, credentials: 'same-origin' });
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  saveAs(await answer.blob(), name);
}
export function saveAs(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

export async function slice(address, signal) {
  const answer = await fetch('/api/v1/series/' + address, { signal, credentials: 'same-origin' });
  if (!answer.ok) throw new ApiError(answer.status, {});
  return new Int16Array(await answer.arrayBuffer());
}
