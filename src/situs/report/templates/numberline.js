// A number, its interval and the threshold it is held against, drawn to scale.
let LINE_WIDTH = 640;

// Places along the spine are counted from C1 as 0, a vertebra's middle being a whole number: nobody reads "22.2".
const VERTEBRAE = [['C', 7], ['T', 12], ['L', 5]].flatMap(([part, count]) => Array.from({ length: count }, (_, n) => `${part}${n + 1}`)).concat('S1');
function inUnit(value, unit) {
  if (unit !== 'level') return short(value);
  const name = (n) => VERTEBRAE[clamp(n, 0, VERTEBRAE.length - 1)], near = Math.round(value);
  return Math.abs(value - near) <= 0.25 ? name(near) : `${name(Math.floor(value))}/${name(Math.floor(value) + 1)}`;
}
const unitAfter = (unit) => (unit && unit !== 'fraction' && unit !== 'level' ? ' ' + unit : '');

// What is in one unit stands on one scale, so that the lines of an item may be compared by eye.
function domainOf(steps) {
  const unit = steps[0].unit || '';
  if (unit === 'fraction') return [0, 1];
  const points = steps.flatMap((step) => {
    const [low, high] = step.interval || [step.value, step.value];
    const own = [step.value, low, step.open_end || high >= 1e9 ? step.value * 1.6 : high];
    return step.threshold === undefined || step.threshold === null ? own : [...own, step.threshold];
  });
  if (unit === 'mm' || unit === '°' || Math.min(...points) < 0.5 * Math.max(...points)) points.push(0);
  for (const guess of steps.flatMap((step) => step.guesses || [])) {
    if (guess.value > 0 && guess.value < 3 * Math.max(...points)) points.push(guess.value);
  }
  const least = Math.min(...points), most = Math.max(...points);
  const pad = 0.06 * (most - least || Math.abs(most) || 1);
  return [least === 0 ? 0 : least - pad, most === 0 ? 0 : most + pad];
}

function spoken(step) {
  const unit = unitAfter(step.unit), told = (value) => inUnit(value, step.unit);
  let words = told(step.value) + unit;
  if (step.interval) words += ', interval ' + told(step.interval[0]) + ' to ' + (step.open_end ? 'open' : told(step.interval[1])) + unit;
  if (step.threshold !== undefined) words += ', threshold ' + told(step.threshold) + unit;
  return words;
}

function textAt(x, y, words, cls) {
  const anchor = x < 60 ? 'start' : x > LINE_WIDTH - 60 ? 'end' : 'middle';
  return s('text', { x: clamp(x, 2, LINE_WIDTH - 2), y, class: cls, 'text-anchor': anchor }, words);
}

function numberLine(step, others) {
  const room = byId('detail') || document.querySelector('.sheet');
  LINE_WIDTH = clamp((room ? room.clientWidth : 640) - 90, 240, 640);
  const [least, most] = domainOf([step, ...others.filter((other) => step.unit && other.unit === step.unit)]);
  const at = (value) => clamp(12 + (LINE_WIDTH - 24) * (value - least) / (most - least || 1), 4, LINE_WIDTH - 4);
  const unit = unitAfter(step.unit), told = (value) => inUnit(value, step.unit);
  const guesses = step.guesses || [];
  const limited = step.threshold !== undefined && step.threshold !== null;
  const height = (limited ? 74 : 58) + 18 * guesses.length;
  const svg = s('svg', { class: 'numberline', viewBox: `0 0 ${LINE_WIDTH} ${height}`, role: 'img', 'aria-label': spoken(step) });
  svg.style.height = 'auto';
  svg.append(s('line', { class: 'axis', x1: 4, x2: LINE_WIDTH - 4, y1: 30, y2: 30 }));
  if (step.interval) {
    const open = step.open_end || step.interval[1] >= 1e9;
    const low = at(step.interval[0]), high = open ? LINE_WIDTH - 12 : at(step.interval[1]);
    svg.append(s('line', { class: 'span', x1: low, x2: Math.max(high, low + 1), y1: 30, y2: 30 }));
    if (open) svg.append(s('path', { class: 'arrow', d: `M${LINE_WIDTH - 12} 22l10 8l-10 8z` }));
    const ends = [told(step.interval[0]), open ? 'no upper end' : told(step.interval[1])];
    if (high - low < 90) svg.append(textAt((low + high) / 2, 50, `${ends[0]} to ${ends[1]}${unit}`, 'soft'));
    else svg.append(textAt(low, 50, ends[0], 'soft'), textAt(high, 50, ends[1] + (open ? '' : unit), 'soft'));
  }
  const clear = (value) => value === undefined || value === null || Math.abs(at(value) - at(0)) > 40;
  if (least <= 0 && most >= 0 && clear(step.threshold) && (step.interval || []).every(clear)) svg.append(textAt(at(0), 50, '0', 'soft'));
  if (limited) {
    const x = at(step.threshold);
    svg.append(s('line', { class: 'limit', x1: x, x2: x, y1: 16, y2: 56 }), textAt(x, 68, `threshold ${told(step.threshold)}${unit}`, 'limit-text'));
  }
  guesses.forEach((guess, place) => {
    const x = at(guess.value), y = (limited ? 84 : 68) + 18 * place, toLeft = x > LINE_WIDTH * 0.55;
    const beyond = guess.value > most ? ' (beyond the line)' : '';
    svg.append(s('circle', { class: 'guess ' + guess.mark, cx: x, cy: y - 4, r: 4 }), s('text', { x: toLeft ? x - 9 : x + 9, y, class: 'guess-text ' + guess.mark, 'text-anchor': toLeft ? 'end' : 'start' },
      `${guess.name}: ${told(guess.value)}${unit} ${markOf(guess.mark)[0]}${beyond}`));
  });
  svg.append(s('circle', { class: 'at', cx: at(step.value), cy: 30, r: 6 }), textAt(at(step.value), 14, told(step.value) + unit, ''));
  // What the two ends mean, where the value's own label leaves room.
  const [lower, upper] = step.ends || [];
  if (lower && at(step.value) > 150) svg.append(textAt(4, 14, '← ' + lower, 'soft'));
  if (upper && at(step.value) < LINE_WIDTH - 150) svg.append(textAt(LINE_WIDTH - 4, 14, upper + ' →', 'soft'));
  return svg;
}
