// Cards: the records of one outcome, each with what was asked, expected and answered, and why that is wrong.
const CARDS = 12;
const seconds = (ms) => (ms < 1000 ? Math.round(ms) + ' ms' : Math.round(ms / 100) / 10 + ' s');
// Tokens, time and cost of an answer, where they were measured.
const measured = new Map(byId('latency') ? JSON.parse(byId('latency').textContent) : []);
function spent(n) {
  const more = texts(n), usage = parsed(more.usage) || {};
  const latency = more.latency_ms === undefined ? measured.get(rows[n][INDEX]) : Number(text(more.latency_ms));
  const out = [];
  if (usage.input_tokens !== undefined || usage.output_tokens !== undefined) out.push(number(usage.input_tokens || 0) + ' → ' + number(usage.output_tokens || 0) + ' tokens');
  if (latency >= 0) out.push(seconds(latency));
  if (typeof usage.cost_usd === 'number') out.push('$' + usage.cost_usd.toPrecision(2));
  return out;
}
const clipped = (whole, most) => (whole.length > most ? whole.slice(0, most) + '…' : whole);
function card(n) {
  const row = rows[n], more = texts(n);
  const part = (title, words, classes) => (words ? [el('dt', null, title), el('dd', { class: classes }, shown(clipped(words, 600)))] : []);
  return el('article', { class: 'card v' + row[VERDICT] },
    el('h3', null, badge(row), ' ', el('a', { href: '#r=' + row[ID] }, el('bdi', null, caseName(row))), el('span', { class: 'soft' }, ' on ', el('bdi', null, meta.slots[row[SLOT]]))),
    el('dl', null, ...part(kind.asked || 'Question', kind.question(more)), ...part('Expected', kind.expected(more)),
      ...part('Answer', kind.answer(more), 'answer'), ...part('Why', kind.why(more) || statusWords(row), 'why')));
}
// Each case once for each target, as many as fit.
function chosenCards(outcome) {
  const seen = new Set(), out = [];
  for (let n = 0; n < rows.length; n++) {
    if (!hasVerdict(rows[n], outcome) || (outcome === 'flaky' && rows[n][VERDICT] !== 0) || seen.has(place(rows[n]))) continue;
    seen.add(place(rows[n]));
    out.push(n);
  }
  return out;
}
let dealt = '';
function deal(outcome, most) {
  const list = chosenCards(outcome), some = list.slice(0, most);
  byId('cards').replaceChildren(...some.map(card));
  byId('cards-more').replaceChildren(
    some.length < list.length ? button('Show ' + number(Math.min(CARDS, list.length - some.length)) + ' more of ' + number(list.length), () => {
      deal(outcome, most + CARDS);
      byId('cards').children[most].querySelector('a').focus();
    }) : '',
    ' ', el('a', { href: '#verdict=' + outcome + (outcome === 'flaky' ? '&by=cases' : '') }, 'All of them as a table'));
  for (const chip of document.querySelectorAll('.outcome-chips a')) chip.toggleAttribute('aria-current', chip.hash === '#show=' + outcome);
  dealt = outcome;
}
