// Walks over every number of a report: `arguments[0]` are sentences of its summary, `arguments[1]` where numbers are that count no records,
// each `[section, column or element, why]`; tells `[links followed, [what is wrong]]`.
const [sentences, exceptions, done] = arguments;
const root = document.documentElement, main = document.querySelector('main');
const wrong = [];

// -- numbers that lead nowhere
// Names and excerpts of others, pictures, the records themselves, headings of columns, and how to read it all.
const NO_COUNTS = 'a, bdi, code, pre, svg, mark, .quiet, #records, #matrix, .cards, #cards-more, #provenance, #lanes, thead, h2, .note, .help > p';
// What a number is that counts nothing: a share, an interval, a p-value, a difference, a mean, a name of a measure, a level, what an outcome is like.
const MEASURES = [/[−+]?[\d.,]+(–[\d.]+)?\s?%/g, /p [=<] [\d.]+/g, /pass@[\d,]+/g, /[−+][\d.]+( to [−+][\d.]+)?/g, /[<]?\s?\d+\.\d+(–\d+\.\d+)?/g,
  /levels? \d+( (and|to) \d+)?/g, /boundary [a-z ]+ \d+( and \d+)?/g, /\d+\s(attempts?|repairs?)/g, / with \d+(?=[,.])/g, /repetition \d+/g];
const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, parent = node.parentElement;
  if (parent.closest(NO_COUNTS)) continue;
  let text = node.textContent;
  for (const sentence of sentences) text = text.replaceAll(sentence, '');
  for (const measure of MEASURES) text = text.replaceAll(measure, '');
  // Nothing is behind a zero.
  const counts = (text.match(/\d+(,\d{3})*/g) || []).filter((number) => !/^0+$/.test(number));
  const cell = parent.closest('td, th');
  const place = [(parent.closest('section') || {}).id, cell ? cell.dataset.label || 'row' : parent.tagName.toLowerCase()];
  if (counts.length && !exceptions.some(([section, column]) => section === place[0] && column === place[1])) {
    wrong.push(counts.join(' and ') + ' of #' + place.join(' ') + ' leads nowhere: ' + node.textContent.trim());
  }
}
for (const figure of main.querySelectorAll('td svg')) {
  if (figure.getAttribute('aria-label') !== 'not assessed' && !figure.closest('a') && !figure.querySelector('a')) wrong.push('a figure of #' + figure.closest('section').id + ' leads nowhere');
}

// -- numbers that lead elsewhere than they say
const hashOf = (link) => link.getAttribute('href');
const links = [...main.querySelectorAll('section:not(#records) a[href^="#"]')].filter((link) => !link.closest('#matrix, .cards, #cards-more') && hashOf(link).includes('=') && !hashOf(link).startsWith('#r='));
// A chip deals cards; all of them are a table of the same verdict.
const placeOf = (link) => hashOf(link).replace(/^#show=flaky$/, '#verdict=flaky&by=cases').replace(/^#show=/, '#verdict=');
const told = new Map();
// What the table says at a place; the same place in another order is the same.
async function toldAt(hash) {
  const filters = String([...new URLSearchParams(hash.slice(1))].sort());
  if (!told.has(filters)) {
    const before = root.dataset.shown;
    location.hash = hash;
    for (let at = 0; at < 2000 && root.dataset.shown === before; at++) await new Promise((go) => setTimeout(go, 5));
    told.set(filters, root.dataset.shown === before ? '0, for the page did not follow' : document.getElementById('count').textContent);
  }
  return told.get(filters);
}
(async () => {
  for (const link of links) {
    const hash = placeOf(link), said = await toldAt(hash);
    const shown = said === 'No record matches.' ? '0' : said.match(/^[0-9,]+/)[0];
    const label = link.textContent.trim() || link.getAttribute('aria-label') || '';
    const number = link.closest('svg') ? label.match(/[0-9,]+$/) : link.matches('.drawn, .cell') || !/^[0-9]/.test(label) || /%$/.test(label) ? null : label.match(/^[0-9,]+/);
    if (number ? number[0].replaceAll(',', '') !== shown.replaceAll(',', '') : shown === '0') wrong.push(label + ' leads to ' + said + ' by ' + decodeURIComponent(hash));
  }
  done([links.length, wrong]);
})();
