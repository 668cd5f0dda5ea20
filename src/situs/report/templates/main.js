const data = JSON.parse(byId('payload').textContent);
const pane = byId('detail');
const list = makeList(data, (row, byPointer) => {
  pane.replaceChildren(...makeDetail(data, row, (step) => list.by(step), (id) => list.show(id)).filter(Boolean));
  try { history.replaceState(null, '', '#' + row[0]); } catch { /* some browsers forbid it for local files */ }
  if (byPointer && window.matchMedia('(max-width: 760px)').matches) pane.scrollIntoView({ behavior: 'smooth', block: 'start' });
});
if (!list.open(location.hash.slice(1))) list.first();
window.addEventListener('hashchange', () => list.open(location.hash.slice(1)));
document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === 'j') list.by(1);
  if (event.key === 'k') list.by(-1);
});
/* What is larger than its place fades on the side where it goes on: many systems show no scroll bar. */
function markSides(region) {
  const hidden = region.scrollWidth - region.clientWidth;
  region.classList.toggle('before', hidden > 1 && region.scrollLeft > 1);
  region.classList.toggle('beyond', hidden > 1 && region.scrollLeft < hidden - 1);
  const lower = region.scrollHeight - region.clientHeight;
  region.classList.toggle('below', lower > 1 && region.scrollTop < lower - 1);
}
const resized = new ResizeObserver((entries) => entries.forEach((entry) => markSides(entry.target)));
for (const region of document.querySelectorAll('.scroll, .pictures, .card .factable')) {
  region.addEventListener('scroll', () => markSides(region), { passive: true });
  resized.observe(region);
}
