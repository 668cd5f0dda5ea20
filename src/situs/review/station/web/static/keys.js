// Which key does what; remapped keys are kept in this browser.
export const ACTIONS = [
  ['answer1', 'a', 'first answer (yes)'], ['answer2', 'b', 'second answer (no)'], ['answer3', 'c', 'third answer'], ['answer4', 'd', 'fourth answer'],
  ['answer5', 'e', 'fifth answer'], ['answer6', 'f', 'sixth answer'],
  ['cannot', 'x', 'cannot be told'], ['keyWrong', 'k', 'key wrong'], ['amend', 'u', 'amend a finished case'],
  ['submit', 'Enter', 'submit and stay'], ['next', 'Shift+Enter', 'submit and next case'],
  ['one', '1', 'confidence 1, or score 1'], ['two', '2', 'confidence 2, or score 2'], ['three', '3', 'confidence 3'], ['zero', '0', 'score 0'],
  ['window1', 'Shift+1', 'first window'], ['window2', 'Shift+2', 'second window'], ['window3', 'Shift+3', 'third window'],
  ['window4', 'Shift+4', 'fourth window'], ['window5', 'Shift+5', 'fifth window'], ['window6', 'Shift+6', 'sixth window'],
  ['convention', 'n', 'neurological or radiological view'], ['lines', 'l', 'slice lines'], ['mark', 'm', 'next mark of the question'], ['reset', 'r', 'reset window and zoom'],
  ['draw', 'w', 'draw a box'], ['first', '[', 'first slice is this one'], ['last', ']', 'last slice is this one'],
  ['help', '?', 'help'], ['lock', 'Shift+L', 'lock the screen'],
];
export const FIXED = [
  ['wheel, arrow keys', 'slice'], ['PgUp, PgDn', '10 slices'], ['Home, End', 'first or last slice'], ['left drag', 'crosshair'],
  ['right drag', 'window and level'], ['middle drag', 'move the picture'], ['Ctrl + wheel', 'zoom'], ['double click', 'one plane large'],
  ['Space, held', 'hide the overlay'],
];
const STORE = 'situs-keys';

export function keyMap() {
  let own = {};
  try { own = JSON.parse(localStorage.getItem(STORE) || '{}'); } catch { own = {}; }
  return Object.fromEntries(ACTIONS.map(([action, key]) => [action, own[action] || key]));
}
export function remap(action, key) {
  const map = keyMap();
  if (key && Object.entries(map).some(([other, held]) => held === key && other !== action)) return false;
  const own = Object.fromEntries(Object.entries({ ...map, [action]: key || ACTIONS.find(([name]) => name === action)[1] }));
  localStorage.setItem(STORE, JSON.stringify(own));
  return true;
}
// The name of a pressed key: digits by their place on the board, so that Shift+1 is not “!”.
export function nameOf(event) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  const name = digit ? digit[1] : event.key.length === 1 ? (event.key === '?' ? '?' : event.key.toLowerCase()) : event.key;
  if (name === '?') return '?';
  const shift = event.shiftKey ? 'Shift+' : '';
  return shift + (event.shiftKey && /^[a-z]$/.test(name) ? name.toUpperCase() : name);
}
export const isTyping = (target) => target.closest('textarea, input:not([type=radio]):not([type=checkbox]):not([type=range]), select, [contenteditable]') !== null;

export function listen(handlers) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const name = nameOf(event), map = keyMap();
    if (isTyping(event.target) && !(name === 'Shift+Enter' && map.next === name)) return;
    if (event.target.closest('button, summary, a') && name === 'Enter') return;
    const action = Object.keys(map).find((one) => map[one] === name);
    if (!action || !handlers[action] || handlers[action]() === false) return;
    event.preventDefault();
  };
  window.addEventListener('keydown', pressed);
  return () => window.removeEventListener('keydown', pressed);
}
