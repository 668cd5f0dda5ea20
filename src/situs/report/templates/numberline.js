// A number, its interval and the threshold it is held against, drawn to scale.
const LINE_WIDTH = 640;

function domainOf(step) {
  const unit = step.unit || '';
  if (unit === 'fraction') return [0, 1];
  const [low, high] = step.interval || [step.value, step.value];
  const points = [step.value, low, step.open_end || high >= 1e9 ? step.value * 1.6 : high];
  if (step.threshold !== undefined && step.threshold !== null) points.push(step.threshold);
  if (unit === 'mm' || unit === '°' || Math.min(...points) < 0.5 * Math.max(...points)) points.push(0);
  for (const guess of step.guesses || []) {
    if (guess.value > 0 && guess.value < 3 * Math.max(...points)) points.push(guess.value);
  }
  const least = Math.min(...points), most = Math.max(...points);
  const pad = 0.06 * (most - least || Math.abs(most) || 1);
  return [least === 0 ? 0 : least - pad, most === 0 ? 0 : most + pad];
}

function spoken(step) {
  const unit = step.unit && step.unit !== 'fraction' ? ' ' + step.unit : '';
  let words = short(step.value) + unit;
  if (step.interval) words += ', interval ' + short(step.interval[0]) + ' to ' + (step.open_end ? 'open' : short(step.interval[1])) + unit;
  if (step.threshold !== undefined) words += ', threshold ' + short(step.threshold) + unit;
  return words;
}

function textAt(x, y, words, cls) {
  const anchor = x < 60 ? 'start' : x > LINE_WIDTH - 60 ? 'end' : 'middle';
  return s('text', { x: clamp(x, 2, LINE_WIDTH - 2), y, class: cls, 'text-anchor': anchor }, words);
}

function numberLine(step) {
  const [least, most] = domainOf(step);
  const at = (value) => clamp(12 + (LINE_WIDTH - 24) * (value - least) / (most - least || 1), 4, LINE_WIDTH - 4);
  const unit = step.unit && step.unit !== 'fraction' ? ' ' + step.unit : '';
  const guesses = step.guesses || [];
  const height = 74 + 16 * guesses.length;
  const svg = s('svg', { class: 'numberline', viewBox: `0 0 ${LINE_WIDTH} ${height}`, role: 'img', 'aria-label': spoken(step) });
  svg.style.height = 'auto';
  svg.append(s('line', { class: 'axis', x1: 4, x2: LINE_WIDTH - 4, y1: 30, y2: 30 }));
  if (step.interval) {
    const open = step.open_end || step.interval[1] >= 1e9;
    const low = at(step.interval[0]), high = open ? LINE_WIDTH - 12 : at(step.interval[1]);
    svg.append(s('line', { class: 'span', x1: low, x2: Math.max(high, low + 1), y1: 30, y2: 30 }));
    if (open) svg.append(s('path', { class: 'arrow', d: `M${LINE_WIDTH - 12} 22l10 8l-10 8z` }));
    const ends = [short(step.interval[0]), open ? 'no upper end' : short(step.interval[1])];
    if (high - low < 90) svg.append(textAt((low + high) / 2, 50, `${ends[0]} to ${ends[1]}${unit}`, 'soft'));
    else svg.append(textAt(low, 50, ends[0], 'soft'), textAt(high, 50, ends[1] + (open ? '' : unit), 'soft'));
  }
  if (least <= 0 && most > 0 && (!step.interval || at(step.interval[0]) - at(0) > 40)) svg.append(textAt(at(0), 50, '0', 'soft'));
  if (step.threshold !== undefined && step.threshold !== null) {
    const x = at(step.threshold);
    svg.append(s('line', { class: 'limit', x1: x, x2: x, y1: 16, y2: 56 }), textAt(x, 68, `threshold ${short(step.threshold)}${unit}`, 'limit-text'));
  }
  guesses.forEach((guess, place) => {
    const x = at(guess.value), y = (step.threshold === undefined ? 66 : 82) + 16 * place;
    const beyond = guess.value > most ? ' →' : guess.value < least ? '← ' : '';
    svg.append(s('line', { class: 'guess ' + guess.mark, x1: x, x2: x, y1: 20, y2: y - 11 }));
    svg.append(textAt(x, y, `${beyond === '← ' ? beyond : ''}${guess.name}: ${short(guess.value)}${unit}${beyond === ' →' ? beyond : ''}`, 'guess-text ' + guess.mark));
  });
  svg.append(s('circle', { class: 'at', cx: at(step.value), cy: 30, r: 6 }), textAt(at(step.value), 14, short(step.value) + unit, ''));
  return svg;
}
