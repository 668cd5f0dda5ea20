// What outcomes and numbers read like.
const MARKS = {
  r: ['✓', 'right'], w: ['✗', 'wrong'], u: ['?', 'unparsed'], f: ['–', 'refused'], x: ['!', 'failed'],
  m: ['∅', 'missing'], n: ['n/a', 'not answerable'], j: ['…', 'unjudged'], s: ['•', 'scored'], ' ': ['', 'not in this run'],
};
const KINDS = { baseline: 'baseline', reader: 'reader', text: 'text only', blind: 'no image seen' };
const markOf = (letter) => MARKS[letter] || MARKS.s;

function short(value) {
  if (value < 0) return '−' + short(-value);
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en').replace(/,/g, '\u202f');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1).replace(/\.0$/, '');
  return value.toFixed(2);
}

function download(name, text, kind) {
  const link = h('a', { href: URL.createObjectURL(new Blob(['\ufeff', text], { type: kind })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csvLine(words) {
  return words.map((word) => {
    const text = String(word).replace(/^[=+@\t\r-]/, "'$&");
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }).join(',');
}
