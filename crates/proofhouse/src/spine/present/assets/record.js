// One record, as a page for its kind: what was asked, what came, why that is wrong; the raw record last.
function cutNote(value, field, line) {
  if (!isCut(value)) return null;
  return el('p', { class: 'cut' }, 'Only the first ' + number(meta.clip_bytes) + ' of ' + number(value.n) + ' bytes are in this page. The whole: ',
    el('code', null, "sed -n '" + line + "p' records.jsonl | jq '." + field + "'"));
}
function pretty(value) {
  const structure = parsed(value);
  return structure === undefined || structure === null || typeof structure !== 'object' ? text(value) : JSON.stringify(structure, null, 2);
}
// A text in its box; what may be Markdown can be shown as such.
function box(title, whole, classes, prose) {
  const pre = el('pre', { class: classes, tabindex: '0', 'aria-label': title }, shown(whole));
  if (!prose || !looksMarked(whole)) return pre;
  const other = el('div', { class: 'prose', hidden: true }, ...rendered(whole));
  const turn = button('Show as Markdown', () => {
    other.hidden = !other.hidden;
    pre.hidden = !other.hidden;
    turn.textContent = other.hidden ? 'Show as Markdown' : 'Show as it came';
  });
  turn.classList.add('small');
  return el('div', { class: 'boxed' }, turn, pre, other);
}
function block(title, field, more, classes, prose) {
  if (more[field] === undefined) return [];
  return [el('h3', null, title), box(title, pretty(more[field]), classes, prose), cutNote(more[field], field, more.line)].filter((part) => part !== null);
}
const table = (titles, cells) => el('table', { class: 'plain' },
  el('thead', null, el('tr', null, ...titles.map((title) => el('th', { scope: 'col' }, title)))),
  el('tbody', null, ...cells.map((row) => el('tr', null, ...row.map((cell) => el('td', null, cell))))));

// A conversation as a chat: who said what, from the first message to the answer.
function chat(turns) {
  return el('ol', { class: 'chat' }, ...turns.map(({ role, words, note, classes }) =>
    el('li', { class: 'turn ' + (classes || role) }, el('p', { class: 'who' }, el('bdi', null, plain(role)), note ? el('span', null, ' · ' + note) : null),
      box(role, words, '', role !== 'system'))));
}
// Lines with their numbers, some of them marked, and what is said of each below it. `from` is the number of the first.
function numbered(title, whole, from, notes) {
  const lines = whole.replace(/\n$/, '').split('\n');
  return [el('h3', null, title), el('pre', { class: 'lines', tabindex: '0', 'aria-label': title }, ...lines.flatMap((line, at) => {
    const said = notes.filter((note) => note.line === from + at);
    return [el('span', { class: 'line' + (said.length ? ' hit' : ''), 'data-line': String(from + at) }, shown(line), '\n'),
      ...said.map((note) => el('span', { class: 'said' }, shown(note.message), '\n'))];
  }))];
}
// A text with its edits marked: each {at, removed, inserted}, `at` in bytes of the text as it was before.
function edited(title, whole, edits) {
  const bytes = new TextEncoder().encode(whole), size = (words) => new TextEncoder().encode(words).length;
  const part = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
  const out = [];
  let from = 0, shift = 0;
  for (const { at, inserted, removed } of [...edits].sort((a, b) => a.at - b.at)) {
    const start = at + shift, end = start + size(inserted);
    if (start < from || part(start, end) !== inserted) return [el('h3', null, title), box(title, whole)];
    out.push(shown(part(from, start)));
    if (removed) out.push(el('del', null, shown(removed)));
    if (inserted) out.push(el('ins', null, shown(inserted)));
    from = end;
    shift += size(inserted) - size(removed);
  }
  out.push(shown(part(from, bytes.length)));
  return [el('h3', null, title), el('pre', { tabindex: '0', 'aria-label': title }, ...out)];
}

function difference(row, more) {
  const expected = more.expected === undefined ? '' : pretty(more.expected), output = more.output === undefined ? '' : pretty(more.output);
  if (!expected || !output || expected === output) return [];
  const clipped = isCut(more.expected) || isCut(more.output);
  return [el('details', { open: row[VERDICT] !== 1, class: 'diff' },
    el('summary', null, 'Difference: ', el('del', null, 'expected'), ' → ', el('ins', null, 'output'), clipped ? ' (of what is in this page)' : ''),
    marked(expected, output, 'Difference'))];
}
function judges(more) {
  const scores = parsed(more.scores), reasons = parsed(more.judge);
  if (more.scores === undefined && more.judge === undefined) return [];
  const names = [...new Set([...Object.keys(scores || {}), ...Object.keys(reasons || {})])];
  const out = [el('h3', null, 'Judges')];
  if (names.length) {
    out.push(el('table', { class: 'plain' }, el('thead', null, el('tr', null, ...['Judge', 'Score', 'Reason'].map((title) => el('th', { scope: 'col' }, title)))),
      el('tbody', null, ...names.map((name) => el('tr', null,
        el('th', { scope: 'row' }, el('bdi', null, plain(name)), name === text(more.primary_metric) ? el('small', null, ' decides') : null),
        el('td', null, !scores || scores[name] === undefined || scores[name] === null ? 'none' : String(scores[name])),
        el('td', null, reasons && reasons[name] !== undefined ? shown(String(reasons[name])) : ''))))));
  } else if (!isCut(more.judge) && !isCut(more.scores)) out.push(el('p', { class: 'note' }, 'No judge gave a score.'));
  for (const field of ['scores', 'judge']) {
    if (isCut(more[field])) out.push(el('pre', { tabindex: '0' }, shown(text(more[field]))), cutNote(more[field], field, more.line));
  }
  return out;
}
// What every kind of suite has, unless it says otherwise: what was asked, expected and answered, and why that is wrong.
const first = (more, ...fields) => { for (const field of fields) if (text(more[field])) return text(more[field]); return ''; };
const tools = { el, shown, plain, parsed, block, table, text, first, chat, numbered, edited, judges, difference, number };
const kind = {
  expects: true,
  placed: [],
  question: (more) => {
    const input = parsed(more.input), messages = input && (input.messages || input);
    if (!Array.isArray(messages)) return text(more.input);
    const asked = messages.filter((message) => message && message.role === 'user').map((message) => said(message.content));
    return asked.length ? asked[asked.length - 1] : text(more.input);
  },
  expected: (more) => text(more.expected),
  answer: (more) => text(more.output),
  why: (more) => {
    const reasons = parsed(more.judge) || {}, deciding = text(more.primary_metric);
    const chosen = reasons[deciding] === undefined ? Object.entries(reasons) : [[deciding, reasons[deciding]]];
    return chosen.map(([name, reason]) => name + ': ' + reason).join('; ') || text(more.error);
  },
  details: (_, more, row) => [...conversation(more), ...block('Expected', 'expected', more), ...difference(row, more),
    ...(more.judge === undefined ? [] : judges(more))],
  ...(typeof KIND === 'function' ? KIND(tools) : KIND),
};
const columns = COLUMNS.filter(({ key }) => key !== 'exp' || kind.expects);
// What a message says: text, or parts of which some are text.
function said(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content);
  return content.map((part) => (part && typeof part.text === 'string' ? part.text : JSON.stringify(part))).join('\n');
}
function conversation(more) {
  const input = parsed(more.input), messages = input && (input.messages || input);
  const asked = Array.isArray(messages)
    ? messages.map((message) => ({ role: message.role || 'message', words: said(message.content) || JSON.stringify(message) }))
    : [{ role: 'user', words: pretty(more.input) }];
  const between = (parsed(more.turns) || []).map((turn) => (typeof turn === 'string' ? turn : said(turn && turn.output !== undefined ? turn.output : turn)));
  const turns = [];
  for (const message of asked) {
    turns.push(message);
    // In a conversation of several turns each question but the last has its answer.
    if (message.role === 'user' && between.length) turns.push({ role: 'assistant', words: between.shift() });
  }
  if (more.reasoning !== undefined) turns.push({ role: 'assistant', note: 'thought, not judged', words: text(more.reasoning), classes: 'thought' });
  const answer = more.output === undefined ? [] : [el('h3', null, 'Output'), box('Output', pretty(more.output), 'answer', true), cutNote(more.output, 'output', more.line)];
  return [el('h3', null, 'Input'), chat(turns), cutNote(more.input, 'input', more.line), ...answer].filter((part) => part !== null);
}
// The same case elsewhere: other targets, and other repetitions.
function siblings(n) {
  const row = rows[n];
  const others = rows.map((_, at) => at).filter((at) => rows[at][CASE] === row[CASE] && rows[at][VARIANT] === row[VARIANT]);
  if (others.length < 2) return [];
  return [el('details', { class: 'siblings' }, el('summary', null, 'The same case: ' + number(others.length) + ' records'),
    table(['Target', 'Rep.', 'Verdict', 'Output'], others.slice(0, 60).map((at) => [
      at === n ? el('strong', null, meta.slots[rows[at][SLOT]]) : el('a', { href: '#r=' + rows[at][ID] }, meta.slots[rows[at][SLOT]]),
      String(rows[at][REP]), badge(rows[at]), preview(kind.answer(texts(at)) || text(texts(at).error))])))];
}

const PLACED = ['line', 'input', 'output', 'expected', 'error', 'scores', 'judge', 'primary_metric', 'turns', 'reasoning', ...kind.placed];
const IDENTITY = ['input_fingerprint', 'output_sha256', 'record_sha256', 'started_at', 'completed_at', 'latency_ms', 'usage'];
function fact(name, value) { return el('div', null, el('dt', null, name), el('dd', null, value)); }
const button = (title, call, off) => el('button', { type: 'button', disabled: off, on: { click: call } }, title);

// What opened the record gets the focus back.
let opener = null;
function openRecord(id) {
  const n = rows.findIndex((row) => row[ID] === id);
  const dialog = byId('detail');
  if (!dialog.open) opener = document.activeElement;
  if (n < 0) {
    const why = meta.records > rows.length ? 'is not among the records embedded in this page: look in records.jsonl.' : 'is not a record of this run.';
    byId('d-body').replaceChildren(el('div', { class: 'd-bar' }, el('span', { class: 'where' }), button('Close', () => dialog.close())),
      el('h2', { id: 'd-title' }, 'No such record'), el('p', null, el('code', null, plain(id)), ' ' + why));
  } else fillRecord(n);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  root.dataset.shown = String((Number(root.dataset.shown) || 0) + 1);
}

function step(by) {
  const at = view.findIndex((n) => rows[n][ID] === state.r);
  const next = view[at + by];
  if (at < 0 || next === undefined) return;
  state.r = rows[next][ID];
  state.page = Math.floor((at + by) / PAGE);
  shownKey = filterKey();
  show();
  openRecord(state.r);
}

// The record as it is on disk, as far as it is in this page, last of all.
function raw(row, more) {
  const whole = { record_id: row[ID], index: row[INDEX], case_id: row[CASE], slot: meta.slots[row[SLOT]], variant_id: row[VARIANT], repetition: row[REP] };
  for (const [key, value] of Object.entries(more)) if (key !== 'line') whole[key] = parsed(value) === undefined ? text(value) : parsed(value);
  return el('details', { class: 'raw' }, el('summary', null, 'Raw record'),
    el('pre', { tabindex: '0', 'aria-label': 'Raw record' }, shown(JSON.stringify(whole, null, 2))),
    el('p', { class: 'note' }, 'The record as it is on disk:'), el('pre', { class: 'command' }, "sed -n '" + more.line + "p' records.jsonl"));
}

// An answer that was judged: the badge says how.
const isPlain = (row) => meta.statuses[row[STATUS]] === 'success' && !row[ERROR];
function fillRecord(n) {
  const row = rows[n], more = texts(n), dialog = byId('detail');
  const at = view.indexOf(n);
  const others = Object.keys(more).filter((key) => !PLACED.includes(key) && !IDENTITY.includes(key));
  byId('d-body').replaceChildren(...[
    el('div', { class: 'd-bar' },
      el('span', { class: 'where' }, at < 0 ? 'not in the current filter' : number(at + 1) + ' of ' + number(view.length)),
      button('Previous', () => step(-1), at <= 0), button('Next', () => step(1), at < 0 || at === view.length - 1),
      button('Close', () => dialog.close())),
    el('h2', { id: 'd-title' }, el('bdi', null, plain(row[CASE]))),
    el('p', { class: 'chips' }, badge(row), el('span', { class: 'chip' }, meta.slots[row[SLOT]]),
      row[VARIANT] === null ? null : el('span', { class: 'chip' }, 'variant ' + plain(row[VARIANT])),
      el('span', { class: 'chip' }, 'repetition ' + row[REP]), isPlain(row) ? null : el('span', { class: 'chip' }, statusWords(row)),
      ...row[TAGS].map((tag) => el('span', { class: 'chip' }, '#', el('bdi', null, plain(tag)))),
      ...spent(n).map((words) => el('span', { class: 'chip' }, words)),
      el('a', { href: '#r=' + row[ID], class: 'permalink' }, 'Link to this record')),
    ...block('Error', 'error', more, 'errorbox'),
    ...kind.details(tools, more, row),
    ...siblings(n),
    ...(others.length ? [el('details', { class: 'others' }, el('summary', null, 'Everything else that was recorded'), ...others.flatMap((key) => block(key, key, more)))] : []),
    el('h3', null, 'Identity'),
    el('dl', { class: 'facts' }, fact('record_id', row[ID]), fact('index', number(row[INDEX])),
      ...IDENTITY.filter((key) => more[key] !== undefined).map((key) => fact(key + (meta.spine && key.endsWith('_at') ? ' (time spine, no clock)' : ''), shown(text(more[key]))))),
    raw(row, more),
  ].filter((part) => part !== null));
}
