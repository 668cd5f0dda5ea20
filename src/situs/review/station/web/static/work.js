// Unfinished work of each case: kept until the station has it, also when its page is left or there is no network.
import { api, Offline } from './api.js';

const PAUSE = 700, AGAIN = 2000;
export const EMPTY = { answers: {}, cannot: '', confidence: 0, score: null, flags: [], verdicts: {}, comment: '', decision: '', key_wrong: null, reason: '' };
const cases = new Map();

class Work {
  constructor(id) {
    this.id = id;
    this.draft = EMPTY;
    this.version = 0;
    this.isUnsent = false;
    this.isCorrection = false; // a finished case has no draft at the station: a correction is kept here until it is sent
    this.active = 0;
    this.last = Date.now();
    this.tell = () => {};
  }
  // What the station has is what the page shows.
  settle(version, draft) {
    clearTimeout(this.timer);
    Object.assign(this, { version, draft, isUnsent: false, isCorrection: false });
  }
  change(part) {
    this.draft = { ...this.draft, ...part };
    this.isUnsent = true;
    clearTimeout(this.timer);
    if (!this.isCorrection) this.timer = setTimeout(() => this.save(), PAUSE);
    return this.draft;
  }
  // One save at a time; what is changed meanwhile is sent after it.
  async save() {
    clearTimeout(this.timer);
    if (this.saving) { this.again = true; return this.saving; }
    this.saving = this.send();
    await this.saving;
    this.saving = null;
    if (!this.again) return undefined;
    this.again = false;
    return this.save();
  }
  async send() {
    const sent = this.draft;
    try {
      const { version } = await api(`/assignments/${this.id}/draft`, { method: 'PUT', version: this.version, body: { draft: sent } });
      this.version = version;
      if (this.draft === sent) this.isUnsent = false;
      this.tell('saved');
    } catch (error) {
      if (error instanceof Offline) this.timer = setTimeout(() => this.save(), AGAIN);
      this.tell(error instanceof Offline ? 'offline' : error.status === 412 ? 'conflict' : 'problem', error);
    }
  }
  // Before a submit, which says it all: no draft may follow it.
  async quiet() {
    clearTimeout(this.timer);
    if (this.saving) await this.saving;
    clearTimeout(this.timer);
  }
  // The page of the case is left: what it holds is sent at once, and tried again until it is heard.
  leave() {
    this.tell = () => {};
    if (!this.isUnsent) cases.delete(this.id);
    else if (!this.isCorrection) this.save();
  }
}

export function workOn(id) {
  if (!cases.has(id)) cases.set(id, new Work(id));
  return cases.get(id);
}
const unsent = () => [...cases.values()].filter((work) => work.isUnsent);
// Before the session ends on purpose.
export const saveAll = () => Promise.all(unsent().filter((work) => !work.isCorrection).map((work) => work.save()));

// A tab that is hidden may never be seen again; one that is closed is held until the station has everything.
document.addEventListener('visibilitychange', () => { if (document.hidden) saveAll(); });
window.addEventListener('beforeunload', (event) => {
  if (!unsent().length) return;
  saveAll();
  event.preventDefault();
});
