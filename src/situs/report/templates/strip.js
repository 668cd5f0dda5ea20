// What the model saw: its very pictures in order, with true boxes (solid) and given ones (dashed) on them.
const MOST_NAMED = 6;
const strip = { truth: true, hidden: new Set() };

function makeStrips(data, strips) {
  const holder = h('div', {});
  const choose = (place) => {
    buttons.forEach((button, n) => button.setAttribute('aria-pressed', String(n === place)));
    holder.replaceChildren(makeStrip(data, strips[place]));
  };
  const buttons = strips.map((entry, place) => h('button', { type: 'button', class: 'tool', 'aria-pressed': 'false', onclick: () => choose(place) }, 'Profile ' + entry.profile));
  const part = h('section', { class: 'strip', 'aria-label': "the model's view" }, h('h4', {}, 'What the model saw'),
    strips.length > 1 ? h('div', { class: 'toolbar', role: 'group', 'aria-label': 'Profile' }, buttons) : null, holder);
  choose(0);
  return part;
}

function makeStrip(data, entry) {
  const { frames, truth, said, true_frames: asked, frame_base: base } = entry;
  let at = Math.max(0, frames.findIndex((frame) => frame[0] === entry.opening));
  const picture = h('img', { alt: '', class: 'seen', draggable: 'false' });
  const svg = s('svg', { preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const labels = h('div', {});
  const stage = h('div', { class: 'stage shown' }, picture, svg, labels);
  const frame = h('div', { class: 'frame', tabindex: 0, role: 'group', 'aria-label': "the model's pictures; arrow keys change the picture" }, stage);
  const slider = h('input', { type: 'range', min: 0, max: frames.length - 1, step: 1, 'aria-label': 'picture' });
  const output = h('output', {});
  const words = h('p', { class: 'boxes-said', role: 'status' });
  const runs = Object.keys(said).map(Number).filter((run) => said[run].length);
  const colour = (run) => 'c' + runs.indexOf(run) % 5;
  const boxesOn = (place) => [
    ...(strip.truth ? truth.filter((box) => box[0] === place).map((box) => ({ box, cls: 'true', name: 'truth' })) : []),
    ...runs.filter((run) => !strip.hidden.has(data.runs[run][0])).flatMap((run) => said[run].filter((box) => box[0] === place).map((box) => ({ box, cls: 'said ' + colour(run), name: data.runs[run][0] }))),
  ];
  const thumbs = frames.map(([place, key, width, height], n) => {
    const has = truth.some((box) => box[0] === place) || asked.includes(place);
    const marked = runs.filter((run) => said[run].some((box) => box[0] === place));
    const image = key ? h('img', { alt: '', src: data.shared.frames[key] }) : h('span', { class: 'blank' });
    image.style.aspectRatio = `${width} / ${height}`;
    return h('button', { type: 'button', class: 'thumb', 'aria-label': `picture ${place + base}${has ? ', in the right answer' : ''}${marked.length ? ', in an answer given' : ''}`, onclick: () => go(n) },
      image, h('span', { class: 'no' }, String(place + base), has ? h('i', { class: 'has true' }) : null, marked.slice(0, 4).map((run) => h('i', { class: 'has said ' + colour(run) }))));
  });
  const row = h('div', { class: 'thumbs', role: 'group', 'aria-label': 'All pictures' }, thumbs);

  function fit() {
    const [, , width, height] = frames[at], room = frame.getBoundingClientRect();
    if (!room.width) return;
    const scale = Math.min(room.width / width, room.height / height);
    stage.style.width = width * scale + 'px';
    stage.style.height = height * scale + 'px';
  }
  function draw() {
    const [place, key, width, height, source] = frames[at];
    if (key) picture.src = data.shared.frames[key];
    else picture.removeAttribute('src');
    picture.classList.toggle('none', !key);
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    const drawn = boxesOn(place);
    svg.replaceChildren(...drawn.flatMap(({ box: [, x0, y0, x1, y1], cls }) => {
      const d = `M${x0} ${y0}H${x1}V${y1}H${x0}z`;
      return [s('path', { class: 'box-back', d }), s('path', { class: 'box ' + cls, d })];
    }));
    const few = (name) => drawn.filter((entry) => entry.name === name).length <= MOST_NAMED;
    labels.replaceChildren(...drawn.filter((entry) => few(entry.name)).map(({ box: [, x0, y0, x1, y1, label], cls, name }) => {
      const below = cls === 'true';
      const node = h('span', { class: 'box-label ' + cls }, label ? `${name}: ${label.replace(/_/g, ' ')}` : name);
      if (x0 + x1 > width) node.style.right = 100 * clamp(1 - x1 / width, 0, 0.5) + '%';
      else node.style.left = 100 * clamp(x0 / width, 0, 0.5) + '%';
      if (below && y1 / height < 0.92) node.style.top = 100 * y1 / height + '%';
      else node.style.bottom = 100 * (1 - Math.max(y0 / height, 0.08)) + '%';
      return node;
    }));
    slider.value = at;
    output.textContent = `${place + base} (${at + 1}/${frames.length})`;
    slider.setAttribute('aria-valuetext', `picture ${place + base}, slice or frame ${source + 1} of the scan`);
    picture.alt = `picture ${place + base} as the model saw it`;
    const told = drawn.slice(0, 8).map(({ box: [, x0, y0, x1, y1, label], name }) => `${name}${label ? ' (' + label.replace(/_/g, ' ') + ')' : ''} x ${short(x0)}–${short(x1)}, y ${short(y0)}–${short(y1)}`);
    words.textContent = `Picture ${place + base}: slice or frame ${source + 1} of the scan.` + (asked.includes(place) ? ' It belongs to the right answer.' : '') + (told.length ? ' Boxes: ' + told.join('; ') + (drawn.length > 8 ? ` and ${drawn.length - 8} more` : '') + '.' : '');
    thumbs.forEach((thumb, n) => thumb.setAttribute('aria-current', String(n === at)));
    const thumb = thumbs[at];
    if (thumb.offsetLeft < row.scrollLeft || thumb.offsetLeft + thumb.offsetWidth > row.scrollLeft + row.clientWidth) row.scrollLeft = thumb.offsetLeft - row.clientWidth / 2;
    fit();
  }
  function go(place) { at = clamp(place, 0, frames.length - 1); draw(); }
  slider.addEventListener('input', () => go(Number(slider.value)));
  frame.addEventListener('wheel', (event) => { event.preventDefault(); go(at + Math.sign(event.deltaY)); }, { passive: false });
  frame.addEventListener('keydown', (event) => {
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5, Home: -1e6, End: 1e6 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    go(at + by);
  });
  const check = (name, cls, on, change) => {
    const box = h('input', { type: 'checkbox', onchange: () => { change(box.checked); draw(); } });
    box.checked = on;
    return h('span', { class: 'chip' }, h('label', {}, box, h('span', { class: 'key-line ' + cls }), name));
  };
  const tools = h('div', { class: 'toolbar', role: 'group', 'aria-label': 'Boxes' },
    truth.length ? check('true boxes', 'true', strip.truth, (on) => { strip.truth = on; }) : null,
    runs.map((run, n) => check(data.runs[run][0], 'c' + n % 5, !strip.hidden.has(data.runs[run][0]), (on) => strip.hidden[on ? 'delete' : 'add'](data.runs[run][0]))));
  new ResizeObserver(fit).observe(frame);
  requestAnimationFrame(draw);
  const left = entry.total - frames.length;
  const shownTo = entry.runs.length ? `shown to ${entry.runs.map((run) => data.runs[run][0]).join(', ')}` : 'as a model would be shown it; no run here saw these pictures';
  const blind = entry.runs.length ? data.runs.filter((_, run) => !entry.runs.includes(run)).map(([name]) => name) : [];
  const note = [`Profile ${entry.profile}, ${shownTo}${blind.length ? ` (not to ${blind.join(', ')})` : ''}; ${entry.total} picture${entry.total === 1 ? '' : 's'}, counted from ${base}${left > 0 ? `, ${left} of them left out here` : ''}.`, entry.note || ''];
  return h('div', {}, truth.length || runs.length ? tools : null,
    h('div', { class: 'pane main wide' }, frame, h('div', { class: 'slide' }, slider, output)), frames.length > 1 ? row : null, words, h('p', { class: 'caption' }, note.join(' ').trim()));
}
