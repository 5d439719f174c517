// What all parts of the page share: text that is only ever text, the theme, the data, the filters, and the table of records. Text from
// records reaches the page only as text nodes; the page's policy (trusted-types 'none') makes anything else an error.
const INDEX = 0, ID = 1, CASE = 2, SLOT = 3, VARIANT = 4, REP = 5, STATUS = 6, VERDICT = 7, ERROR = 8, SCORE = 9, TAGS = 10;
const VERDICTS = ['failed', 'passed', 'unassessed'];
const VERDICT_WORDS = ['failed', 'passed', 'not assessed'];
const PAGE = 100;
const byId = (id) => document.getElementById(id);

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'on') for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
    else if (value === true) node.setAttribute(key, '');
    else if (value !== null && value !== false && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// What cannot be seen is shown by name: control characters, escape sequences, marks that reorder or hide text.
function unseen(c) {
  const code = c.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : 'U+' + code.toString(16).toUpperCase().padStart(4, '0');
}
function shown(text) {
  const out = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match[0] === '\r' && text[match.index + 1] === '\n') continue;
    out.append(text.slice(from, match.index), el('span', { class: 'ctl' }, unseen(match[0])));
    from = match.index + match[0].length;
  }
  out.append(text.slice(from));
  return out;
}
const plain = (text) => text.replace(UNSEEN, unseen);

// -- theme
const root = document.documentElement;
const themes = ['auto', 'light', 'dark'];
let theme = 'auto';
try { theme = localStorage.getItem('proofhouse-theme') || 'auto'; } catch { /* storage is off: the choice lasts for the page */ }
function showTheme() {
  if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
  byId('theme').textContent = 'Theme: ' + theme;
}
byId('theme').addEventListener('click', () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  try { localStorage.setItem('proofhouse-theme', theme); } catch { /* as above */ }
  showTheme();
});
byId('theme').hidden = false;
showTheme();

// -- data
const meta = JSON.parse(byId('meta').textContent);
let rows = [];
let partTexts = null;
for (const block of document.querySelectorAll('script.rows')) for (const row of JSON.parse(block.textContent)) rows.push(row);
const blocks = document.querySelectorAll('script.texts');
const recent = new Map();
function texts(n) {
  if (partTexts) return partTexts[n];
  const group = Math.floor(n / meta.group);
  let parsed = recent.get(group);
  if (!parsed) {
    parsed = JSON.parse(blocks[group].textContent);
    recent.set(group, parsed);
    if (recent.size > 12) recent.delete(recent.keys().next().value);
  }
  return parsed[n % meta.group];
}
// A value is text, or {t: cut text, n: bytes}, or {j: JSON text, n: bytes if it was cut}.
const text = (value) => (value === undefined ? '' : typeof value === 'string' ? value : 't' in value ? value.t : value.j);
const isCut = (value) => typeof value === 'object' && 'n' in value;
function parsed(value) {
  if (value === undefined || typeof value === 'string' || isCut(value)) return undefined;
  return JSON.parse(value.j);
}

// -- state, which is also the address
const state = { q: '', slot: '', verdict: '', status: '', error: '', tag: '', case: '', beside: '', with: '', by: '', sort: 'index', page: 0, r: '', show: '' };
const FILTERS = ['q', 'slot', 'verdict', 'status', 'error', 'tag', 'case', 'beside', 'with', 'by'];
let view = [];
let searchTurn = 0;
let shownKey = '';

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const known = [...FILTERS, 'sort', 'page', 'r', 'show'];
  if (![...address.keys()].some((key) => known.includes(key))) return false;
  for (const key of FILTERS) state[key] = address.get(key) || '';
  state.sort = COLUMNS.some((column) => column.key === (address.get('sort') || '').replace(/^-/, '')) ? address.get('sort') : 'index';
  state.page = Math.max(0, (parseInt(address.get('page'), 10) || 1) - 1);
  state.r = address.get('r') || '';
  state.show = address.get('show') || '';
  return true;
}
// What decides which rows the table shows.
const filterKey = () => JSON.stringify([...FILTERS.map((key) => state[key]), state.sort, state.page]);
// `step` makes a place to come back to; without it the address only follows.
function writeAddress(step) {
  const address = new URLSearchParams();
  if (state.r) address.set('r', state.r);
  if (state.show) address.set('show', state.show);
  for (const key of FILTERS) if (state[key]) address.set(key, state[key]);
  if (state.sort !== 'index') address.set('sort', state.sort);
  if (state.page) address.set('page', state.page + 1);
  const hash = address.toString();
  // An anchor of another section stays as it is while there is nothing to say here.
  const elsewhere = !location.hash.includes('=');
  if (location.hash.slice(1) === hash || (elsewhere && hash === '')) return;
  if (step) history.pushState(null, '', '#' + hash);
  else history.replaceState(history.state, '', '#' + (hash || 'records'));
}

const COLUMNS = [
  { key: 'index', title: '#', order: (row) => row[INDEX] },
  { key: 'case', title: 'Case', order: (row) => row[CASE] },
  { key: 'in', title: 'Input' },
  { key: 'exp', title: 'Expected' },
  { key: 'out', title: 'Output' },
  { key: 'slot', title: 'Target', order: (row) => row[SLOT] },
  { key: 'rep', title: 'Rep.', order: (row) => row[REP] },
  { key: 'verdict', title: 'Verdict', order: (row) => row[VERDICT] },
  { key: 'status', title: 'Status', order: (row) => row[STATUS] * 2 + (row[ERROR] ? 1 : 0) },
  { key: 'score', title: 'Score', order: (row) => (row[SCORE] === null ? -1 : row[SCORE]) },
];

// Cases of which a target passed some trials and failed others, and those that it was judged on more than once. Repetitions are those of
// one wording: two wordings may well differ.
let mixed = null, repeated = null;
const place = (row) => row[SLOT] + ' ' + row[CASE];
function compareRepetitions() {
  if (mixed !== null) return;
  const seen = new Map();
  mixed = new Set();
  repeated = new Set();
  for (const row of rows) {
    if (row[VERDICT] > 1) continue;
    const key = JSON.stringify([row[SLOT], row[CASE], row[VARIANT]]);
    const first = seen.get(key);
    if (first === undefined) { seen.set(key, row[VERDICT]); continue; }
    repeated.add(place(row));
    if (first !== row[VERDICT]) mixed.add(place(row));
  }
}
const isFlaky = (row) => { compareRepetitions(); return mixed.has(place(row)); };
const isRepeated = (row) => { compareRepetitions(); return repeated.has(place(row)); };
// What only tries the means has no verdict that anybody misses.
const isAside = (row) => meta.asides.some((start) => row[CASE].startsWith(start));
// What a policy made unnecessary has none either; what a missing shard had to run is missed all the same.
const isSpared = (row) => Boolean(kind.spares) && meta.statuses[row[STATUS]] === 'not_run' && row[ERROR] !== 'missing_shard';
const hasVerdict = (row, verdict) => (verdict === 'flaky' ? isFlaky(row) : verdict === 'repeated' ? isRepeated(row) : verdict === 'assessed' ? row[VERDICT] < 2
  : VERDICTS[row[VERDICT]] === verdict && !(verdict === 'unassessed' && (isAside(row) || isSpared(row))));

// `beside=failed:careful`: what `careful` did on the same trial of the same case.
const besides = { said: '', rows: null, trials: null, verdict: '', slot: '' };
function fitsBeside(row) {
  const trial = (each) => JSON.stringify([each[CASE], each[VARIANT], each[REP]]);
  if (besides.said !== state.beside || besides.rows !== rows) {
    const at = state.beside.indexOf(':');
    Object.assign(besides, { said: state.beside, rows, verdict: state.beside.slice(0, at), slot: state.beside.slice(at + 1) });
    const slot = meta.slots.indexOf(besides.slot);
    besides.trials = new Map(rows.filter((each) => each[SLOT] === slot).map((each) => [trial(each), each]));
  }
  const other = besides.trials.get(trial(row));
  return other !== undefined && hasVerdict(other, besides.verdict);
}
// `with=actual_outcome=leaked|contained attack=true`: fields of a record and the values that they may have; `!=` those that they may not
// have, `~=` one that stands in a list. Beside the fields of a record there are those of `valueOf`.
function conditions() {
  const decoded = (word) => { try { return decodeURIComponent(word); } catch { return word; } };
  const parts = state.with.split(' ').map((part) => /^([^=!~]+)([!~]?)=(.*)$/.exec(part)).filter((part) => part !== null);
  return parts.map(([, field, how, values]) => ({ field: decoded(field), how, values: values.split('|').map(decoded) }));
}
// What no text of a record says by itself: `aside` is what only tries the means and is in no rate, `score.NAME` whether a judge gave a score; a
// field with a colon is of the whole case on its target, as the kind reads it (`wording:upper_case`).
function valueOf(n, field) {
  const row = rows[n];
  if (field === 'aside') return String(isAside(row));
  if (field === 'spared') return String(isSpared(row));
  if (field === 'status') return meta.statuses[row[STATUS]];
  if (field === 'slot') return meta.slots[row[SLOT]];
  if (field === 'case') return row[CASE];
  // The group of runs that a trial belongs to.
  if (field === 'runs_of') return [meta.slots[row[SLOT]], row[CASE], row[VARIANT]].filter((part) => part !== null).join(' / ');
  if (field === 'error') return row[ERROR] || '';
  if (field === 'variant') return row[VARIANT] || '';
  if (field === 'generator') return generatorOf(n);
  if (field === 'observed') return ['termination', 'success', 'failure_stage', 'attempts', 'repairs_triggered'].map((name) => text(texts(n)[name])).join(',');
  if (field.startsWith('score.')) return String(((parsed(texts(n).scores) || {})[field.slice(6)] ?? null) !== null);
  return field.includes(':') ? wholeCases(field).get(place(row)) : text(texts(n)[field]);
}
// Variants are named by what made them and a number.
const generatorOf = (n) => text(texts(n).generator) || (rows[n][VARIANT] || '').replace(/_[0-9]+$/, '');
const wholes = { rows: null, fields: new Map() };
function wholeCases(field) {
  if (wholes.rows !== rows) Object.assign(wholes, { rows, fields: new Map() });
  if (!wholes.fields.has(field)) {
    const cases = new Map();
    rows.forEach((row, n) => { if (!cases.has(place(row))) cases.set(place(row), []); cases.get(place(row)).push(n); });
    const [what, name] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)];
    const say = (kind.whole || {})[what] || ((members) => (what === 'wording' ? wording(members) : undefined));
    const member = (n) => ({ generator: generatorOf(n), verdict: rows[n][VERDICT], more: texts(n), own: generatorOf(n) === name, plain: rows[n][VARIANT] === null });
    wholes.fields.set(field, new Map([...cases].map(([key, all]) => [key, say(all.map(member))])));
  }
  return wholes.fields.get(field);
}
// Whether a case came out right as it stands and in all of a generator's wordings; nothing where one of them was not assessed.
function wording(members) {
  const judged = (list) => list.filter((each) => each.verdict < 2);
  const [base, own] = [judged(members.filter((each) => each.plain)), judged(members.filter((each) => each.own))];
  return base.length && own.length ? ([...base, ...own].every((each) => each.verdict === 1) ? 'right' : 'wrong') : undefined;
}
// An entry of a list is a text, a finding with its code, or a call of which something is true.
const isOneOf = (entry, values) => values.some((value) => entry === value || entry.code === value || entry[value] === true);
const holds = (n, { field, how, values }) => {
  if (how === '~') return (parsed(texts(n)[field]) || []).some((entry) => isOneOf(entry, values));
  return values.includes(valueOf(n, field)) !== (how === '!');
};
// What the fields above the table do not show, in words.
function alsoFiltered() {
  const said = ({ field, how, values }) => {
    const verb = { '': ' is ', '!': ' is not ', '~': ' has ' }[how];
    const words = values.length > 4 ? 'one of ' + values.length : values.map((value) => value || 'none').join(' or ');
    return field.replaceAll('_', ' ') + verb + words;
  };
  const parts = conditions().filter(({ field }) => field !== 'aside').map(said);
  if (state.beside) parts.unshift('the same trial on ' + besides.slot + ' is ' + besides.verdict);
  return parts.length ? ', where ' + plain(parts.join(' and ')) : '';
}
// What a count counted where that is not records: cases of a target, wordings, generators.
const UNITS = {
  cases: ['case', 'cases', (n) => place(rows[n])],
  variants: ['variant', 'variants', (n) => place(rows[n]) + ' ' + rows[n][VARIANT]],
  levels: ['level', 'levels', (n) => place(rows[n]) + ' ' + rows[n][VARIANT]],
  generators: ['generator', 'generators', (n) => rows[n][SLOT] + ' ' + generatorOf(n)],
  outcomes: ['outcome', 'outcomes', (n) => valueOf(n, 'observed')],
  calls: ['call', 'calls', null],
};
function counted() {
  const unit = Object.hasOwn(UNITS, state.by) ? UNITS[state.by] : null;
  if (!unit) return '';
  const [one, many, key] = unit;
  // Calls are counted within their records: `by=calls&with=calls~=forbidden`.
  const calls = (n) => conditions().filter(({ how }) => how === '~').flatMap((asked) => (parsed(texts(n).calls) || []).filter((call) => isOneOf(call, asked.values)));
  const all = key ? new Set(view.map(key)).size : view.reduce((sum, n) => sum + calls(n).length, 0);
  return number(all) + ' ' + (all === 1 ? one : many) + ' in ';
}

function matches(row) {
  return (!state.slot || meta.slots[row[SLOT]] === state.slot) && (!state.verdict || hasVerdict(row, state.verdict))
    && (!state.status || meta.statuses[row[STATUS]] === state.status) && (!state.error || row[ERROR] === state.error)
    && (!state.tag || row[TAGS].includes(state.tag)) && (!state.case || row[CASE] === state.case)
    && (!state.beside || fitsBeside(row));
}
const rowText = (row) => [row[CASE], row[ID], row[VARIANT], row[ERROR]].join('\n').toLowerCase();
const recordText = (n) => Object.values(texts(n)).map((value) => (typeof value === 'number' ? '' : text(value))).join('\n').toLowerCase();

function sorted(list) {
  const down = state.sort.startsWith('-');
  const order = COLUMNS.find((column) => column.key === state.sort.replace(/^-/, '')).order;
  const sign = down ? -1 : 1;
  return list.sort((a, b) => {
    const x = order(rows[a]), y = order(rows[b]);
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

// Filters at once; the search through texts in slices, so that the page answers while it reads 100,000 of them.
async function update() {
  const turn = ++searchTurn;
  const words = state.q.toLowerCase(), asked = conditions();
  const found = (n) => !words || rowText(rows[n]).includes(words) || recordText(n).includes(words);
  let list = [];
  for (let n = 0; n < rows.length; n++) if (matches(rows[n])) list.push(n);
  if (words || asked.length) {
    const kept = [];
    let pause = performance.now() + 40;
    for (let at = 0; at < list.length; at++) {
      if (asked.every((each) => holds(list[at], each)) && found(list[at])) kept.push(list[at]);
      if (performance.now() > pause) {
        byId('count').textContent = 'Searching… ' + number(at) + ' of ' + number(list.length);
        await new Promise((resume) => setTimeout(resume));
        if (turn !== searchTurn) return;
        pause = performance.now() + 40;
      }
    }
    list = kept;
  }
  view = sorted(list);
  shownKey = filterKey();
  show();
}

const number = (value) => value.toLocaleString('en-US');

function show() {
  const pages = Math.max(1, Math.ceil(view.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  for (const key of FILTERS) {
    const field = byId('f-' + key);
    if (field.value !== state[key]) field.value = state[key];
    field.classList.toggle('active', state[key] !== '');
  }
  const from = state.page * PAGE;
  const part = view.slice(from, from + PAGE);
  byId('table').tBodies[0].replaceChildren(...part.map(tableRow));
  for (const head of byId('table').tHead.rows[0].cells) {
    const key = head.dataset.key;
    if (state.sort === key) head.setAttribute('aria-sort', 'ascending');
    else if (state.sort === '-' + key) head.setAttribute('aria-sort', 'descending');
    else head.removeAttribute('aria-sort');
  }
  const of = view.length === rows.length ? '' : ' of ' + number(rows.length);
  byId('count').textContent = view.length === 0
    ? 'No record matches.'
    : counted() + number(view.length) + of + (view.length === 1 && !of ? ' record' : ' records')
      + alsoFiltered() + (pages > 1 ? '; shown here: ' + number(from + 1) + '–' + number(from + part.length) : '');
  byId('pager').hidden = pages === 1;
  byId('p-where').textContent = 'Page ' + number(state.page + 1) + ' of ' + number(pages);
  byId('p-first').disabled = byId('p-prev').disabled = state.page === 0;
  byId('p-next').disabled = byId('p-last').disabled = state.page === pages - 1;
  writeAddress();
  root.dataset.shown = String((Number(root.dataset.shown) || 0) + 1);
}

const badge = (row) => el('span', { class: 'badge v' + row[VERDICT] }, VERDICT_WORDS[row[VERDICT]]);
// A trial that was answered and judged is a success of the run; where that is a failure of the target, its type says more.
const statusWords = (row) => {
  const status = meta.statuses[row[STATUS]].replace('_', ' ');
  return row[ERROR] ? (status === 'success' ? '' : status + ' · ') + plain(row[ERROR]) : status;
};

const oneLine = (whole, most) => plain(whole.slice(0, most).replace(/\s+/g, ' '));
const preview = (whole) => el('bdi', { class: 'preview' }, oneLine(whole, 220));
const caseName = (row) => plain(row[CASE] + (row[VARIANT] === null ? '' : ' / ' + row[VARIANT]));

function tableRow(n) {
  const row = rows[n];
  const more = texts(n);
  const name = caseName(row);
  const cells = {
    index: number(row[INDEX]),
    case: el('a', { href: '#r=' + row[ID], title: name }, el('bdi', null, name)),
    in: preview(kind.question(more)),
    exp: preview(kind.expected(more)),
    out: preview(kind.answer(more) || text(more.error)),
    slot: meta.slots[row[SLOT]],
    rep: String(row[REP]),
    verdict: badge(row),
    status: statusWords(row),
    score: row[SCORE] === null ? '–' : String(Math.round(row[SCORE] * 1000) / 1000),
  };
  return el('tr', { 'data-n': n }, ...columns.map(({ key }) =>
    el('td', { class: 'c-' + key + (key === 'index' || key === 'rep' || key === 'score' ? ' num' : ''), title: key === 'status' ? cells.status : null }, cells[key])));
}
