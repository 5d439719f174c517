// Wiring: controls, keys, the address, and what the page does when it opens.
function choices(id, all, values) {
  byId(id).replaceChildren(el('option', { value: '' }, all), ...values.map(([value, title]) => el('option', { value }, title)));
}
const valuesOf = (at) => [...new Set(rows.flatMap((row) => (row[at] === null ? [] : row[at])))].sort();
const same = (values) => values.map((value) => [value, plain(value)]);
refreshChoices = () => {
  choices('f-slot', 'all', same(meta.slots));
  choices('f-verdict', 'all', [['passed', 'passed'], ['failed', 'failed'], ['unassessed', 'not assessed'], ['assessed', 'assessed'], ['flaky', 'flaky'], ['repeated', 'repeated']]);
  choices('f-status', 'all', [...new Set(rows.map((row) => row[STATUS]))].sort().map((at) => [meta.statuses[at], meta.statuses[at].replace('_', ' ')]));
  choices('f-error', 'all', same(valuesOf(ERROR)));
  choices('f-tag', 'all', same(valuesOf(TAGS)));
  byId('case-list').replaceChildren(...valuesOf(CASE).slice(0, 2000).map((value) => el('option', { value })));
};
refreshChoices();
byId('table').tHead.rows[0].replaceChildren(...columns.map(({ key, title, order }) => el('th', { scope: 'col', class: 'c-' + key, 'data-key': key, 'data-title': order ? title : null },
  order ? button(title, () => { state.sort = state.sort === key ? '-' + key : key; state.page = 0; update(); }) : title)));

let typing = 0;
byId('filters').addEventListener('input', (event) => {
  const key = event.target.id.slice(2);
  state[key] = event.target.value;
  state.page = 0;
  clearTimeout(typing);
  typing = setTimeout(update, key === 'q' ? 150 : 0);
});
byId('filters').addEventListener('submit', (event) => event.preventDefault());
byId('filters').addEventListener('reset', (event) => {
  event.preventDefault();
  for (const key of FILTERS) state[key] = '';
  state.page = 0;
  update();
});
function turn(page) { state.page = page; show(); byId('table').scrollIntoView({ block: 'start' }); }
byId('p-first').addEventListener('click', () => turn(0));
byId('p-prev').addEventListener('click', () => turn(state.page - 1));
byId('p-next').addEventListener('click', () => turn(state.page + 1));
byId('p-last').addEventListener('click', () => turn(Math.ceil(view.length / PAGE) - 1));

// Opens a record from a link to it, in a way that the back button takes back.
function follow(event, id) {
  event.preventDefault();
  state.r = id;
  writeAddress(!byId('detail').open);
  openRecord(id);
}
document.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const link = event.target.closest('a[href^="#r="]');
  if (link && !link.classList.contains('permalink')) { follow(event, link.hash.slice(3)); return; }
  const row = event.target.closest('#table tbody tr');
  if (!row || event.target.closest('a') || String(getSelection())) return;
  row.querySelector('a').focus();
  follow(event, rows[row.dataset.n][ID]);
});
byId('detail').addEventListener('close', () => {
  state.r = '';
  writeAddress(false);
  if (opener && opener.isConnected) opener.focus();
});
byId('detail').addEventListener('click', (event) => { if (event.target === byId('detail')) byId('detail').close(); });
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typed = event.target.closest('input, select, textarea');
  const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
  if (byId('detail').open) {
    if (by) step(by);
  } else if (event.key === '/' && !typed) {
    event.preventDefault();
    byId('f-q').focus();
  } else if (by && !typed) {
    // Through the cards where one has the focus, and else through the table.
    const within = event.target.closest('#cards') ? '#cards h3 a' : '#table tbody .c-case a';
    const links = [...document.querySelectorAll(within)];
    const next = links[links.indexOf(event.target) + by];
    if (next) next.focus();
  }
});
addEventListener('hashchange', () => { go(true); });
addEventListener('beforeprint', () => { for (const more of document.querySelectorAll('main details')) more.open = true; });

async function go(moved) {
  const dialog = byId('detail');
  if (!readAddress()) {
    state.r = '';
    if (dialog.open) dialog.close();
    if (!moved) await update();
    return;
  }
  if (shownKey !== filterKey()) {
    await update();
    fillMatrix();
  }
  if (state.show && byId('cards')) {
    if (dealt !== state.show) deal(state.show, CARDS);
    if (moved && !state.r) byId('failures').scrollIntoView({ block: 'nearest' });
  }
  if (state.r) { openRecord(state.r); return; }
  if (dialog.open) dialog.close();
  else if (!state.show && !FILTERS.some((key) => document.activeElement === byId('f-' + key))) byId('records').scrollIntoView();
}
byId('browser').hidden = false;
// The first cards are there without a script; what they were dealt for is shown by the chip.
const firstChip = document.querySelector('.outcome-chips a[href^="#show="]');
if (byId('cards') && firstChip) {
  if (byId('cards').children.length === 0) deal(firstChip.hash.slice(6), CARDS);
  else firstChip.toggleAttribute('aria-current', true);
}
openMatrix();
openParts();
go(false);
