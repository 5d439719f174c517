// The table of records and the view of one. Text from records reaches the page only as text nodes; the page's policy
// (trusted-types 'none') makes anything else an error.
(() => {
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
  const rows = [];
  for (const block of document.querySelectorAll('script.rows')) for (const row of JSON.parse(block.textContent)) rows.push(row);
  const blocks = document.querySelectorAll('script.texts');
  const recent = new Map();
  function texts(n) {
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
  const state = { q: '', slot: '', verdict: '', status: '', error: '', tag: '', case: '', sort: 'index', page: 0, r: '' };
  const FILTERS = ['q', 'slot', 'verdict', 'status', 'error', 'tag', 'case'];
  let view = [];
  let searchTurn = 0;

  function readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const known = [...FILTERS, 'sort', 'page', 'r'];
    if (![...address.keys()].some((key) => known.includes(key))) return false;
    for (const key of FILTERS) state[key] = address.get(key) || '';
    state.sort = COLUMNS.some((column) => column.key === (address.get('sort') || '').replace(/^-/, '')) ? address.get('sort') : 'index';
    state.page = Math.max(0, (parseInt(address.get('page'), 10) || 1) - 1);
    state.r = address.get('r') || '';
    return true;
  }
  function writeAddress() {
    const address = new URLSearchParams();
    if (state.r) address.set('r', state.r);
    for (const key of FILTERS) if (state[key]) address.set(key, state[key]);
    if (state.sort !== 'index') address.set('sort', state.sort);
    if (state.page) address.set('page', state.page + 1);
    const hash = address.toString();
    // An anchor of another section stays as it is while there is nothing to say here.
    const elsewhere = !location.hash.includes('=');
    if (location.hash.slice(1) !== hash && !(elsewhere && hash === '')) history.replaceState(null, '', '#' + (hash || 'records'));
  }

  const COLUMNS = [
    { key: 'index', title: '#', order: (row) => row[INDEX] },
    { key: 'case', title: 'Case', order: (row) => row[CASE] },
    { key: 'slot', title: 'Target', order: (row) => row[SLOT] },
    { key: 'rep', title: 'Rep.', order: (row) => row[REP] },
    { key: 'verdict', title: 'Verdict', order: (row) => row[VERDICT] },
    { key: 'status', title: 'Status', order: (row) => row[STATUS] * 2 + (row[ERROR] ? 1 : 0) },
    { key: 'score', title: 'Score', order: (row) => (row[SCORE] === null ? -1 : row[SCORE]) },
    { key: 'out', title: 'Output' },
  ];

  function matches(row) {
    return (!state.slot || meta.slots[row[SLOT]] === state.slot) && (!state.verdict || VERDICTS[row[VERDICT]] === state.verdict)
      && (!state.status || meta.statuses[row[STATUS]] === state.status) && (!state.error || row[ERROR] === state.error)
      && (!state.tag || row[TAGS].includes(state.tag)) && (!state.case || row[CASE] === state.case);
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
    const words = state.q.toLowerCase();
    let list = [];
    for (let n = 0; n < rows.length; n++) if (matches(rows[n])) list.push(n);
    if (words) {
      const found = [];
      let pause = performance.now() + 40;
      for (let at = 0; at < list.length; at++) {
        if (rowText(rows[list[at]]).includes(words) || recordText(list[at]).includes(words)) found.push(list[at]);
        if (performance.now() > pause) {
          byId('count').textContent = 'Searching… ' + number(at) + ' of ' + number(list.length);
          await new Promise((resume) => setTimeout(resume));
          if (turn !== searchTurn) return;
          pause = performance.now() + 40;
        }
      }
      list = found;
    }
    view = sorted(list);
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
      : number(view.length) + of + (view.length === 1 && !of ? ' record' : ' records')
        + (pages > 1 ? '; shown here: ' + number(from + 1) + '–' + number(from + part.length) : '');
    byId('pager').hidden = pages === 1;
    byId('p-where').textContent = 'Page ' + number(state.page + 1) + ' of ' + number(pages);
    byId('p-first').disabled = byId('p-prev').disabled = state.page === 0;
    byId('p-next').disabled = byId('p-last').disabled = state.page === pages - 1;
    writeAddress();
    root.dataset.shown = String((Number(root.dataset.shown) || 0) + 1);
  }

  const badge = (row) => el('span', { class: 'badge v' + row[VERDICT] }, VERDICT_WORDS[row[VERDICT]]);
  const statusWords = (row) => meta.statuses[row[STATUS]].replace('_', ' ') + (row[ERROR] ? ' · ' + plain(row[ERROR]) : '');

  function tableRow(n) {
    const row = rows[n];
    const more = texts(n);
    const preview = plain((text(more[kind.output]) || text(more.error)).slice(0, 220).replace(/\s+/g, ' '));
    const name = row[CASE] + (row[VARIANT] === null ? '' : ' / ' + row[VARIANT]);
    const cells = {
      index: number(row[INDEX]),
      case: el('a', { href: '#r=' + row[ID], title: plain(name) }, el('bdi', null, plain(name))),
      slot: meta.slots[row[SLOT]],
      rep: String(row[REP]),
      verdict: badge(row),
      status: statusWords(row),
      score: row[SCORE] === null ? '–' : String(Math.round(row[SCORE] * 1000) / 1000),
      out: el('bdi', { class: 'preview' }, preview),
    };
    return el('tr', { 'data-n': n }, ...COLUMNS.map(({ key }) =>
      el('td', { class: 'c-' + key + (key === 'index' || key === 'rep' || key === 'score' ? ' num' : ''), title: key === 'status' ? cells.status : null }, cells[key])));
  }

  // -- one record
  function cutNote(value, field, line) {
    if (!isCut(value)) return null;
    return el('p', { class: 'cut' }, 'Only the first ' + number(meta.clip_bytes) + ' of ' + number(value.n) + ' bytes are in this page. The whole: ',
      el('code', null, "sed -n '" + line + "p' records.jsonl | jq '." + field + "'"));
  }
  function pretty(value) {
    const structure = parsed(value);
    return structure === undefined || structure === null || typeof structure !== 'object' ? text(value) : JSON.stringify(structure, null, 2);
  }
  function block(title, field, more, kind) {
    if (more[field] === undefined) return [];
    return [el('h3', null, title), el('pre', { class: kind, tabindex: '0', 'aria-label': title }, shown(pretty(more[field]))), cutNote(more[field], field, more.line)];
  }

  // The longest common subsequence of words, after what both begin and end with is set aside.
  function wordDiff(a, b) {
    const split = (whole) => whole.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || [];
    const x = split(a), y = split(b);
    let start = 0, xEnd = x.length, yEnd = y.length;
    while (start < xEnd && start < yEnd && x[start] === y[start]) start++;
    while (xEnd > start && yEnd > start && x[xEnd - 1] === y[yEnd - 1]) { xEnd--; yEnd--; }
    const rowsOf = xEnd - start, columns = yEnd - start;
    if (rowsOf * columns > 4e6) return null;
    const width = columns + 1;
    const best = new Uint16Array((rowsOf + 1) * width);
    for (let i = rowsOf - 1; i >= 0; i--) {
      for (let j = columns - 1; j >= 0; j--) {
        best[i * width + j] = x[start + i] === y[start + j]
          ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    const out = [];
    const add = (kind, word) => {
      const last = out[out.length - 1];
      if (last && last[0] === kind) last[1] += word; else out.push([kind, word]);
    };
    for (let k = 0; k < start; k++) add('', x[k]);
    let i = 0, j = 0;
    while (i < rowsOf || j < columns) {
      if (i < rowsOf && j < columns && x[start + i] === y[start + j]) { add('', x[start + i]); i++; j++; }
      else if (j === columns || (i < rowsOf && best[(i + 1) * width + j] >= best[i * width + j + 1])) { add('del', x[start + i]); i++; }
      else { add('ins', y[start + j]); j++; }
    }
    for (let k = xEnd; k < x.length; k++) add('', x[k]);
    return joined(out);
  }
  // A space that two changes have in common does not keep them apart: changed words read as one phrase.
  function joined(parts) {
    const out = [];
    let old = '', young = '';
    const flush = () => {
      if (old) out.push(['del', old]);
      if (young) out.push(['ins', young]);
      old = young = '';
    };
    parts.forEach(([kind, words], at) => {
      if (kind === 'del') old += words;
      else if (kind === 'ins') young += words;
      else if ((old || young) && at + 1 < parts.length && !words.trim()) { old += words; young += words; }
      else { flush(); out.push(['', words]); }
    });
    flush();
    return out;
  }
  function difference(row, more) {
    if (more.expected === undefined || more.output === undefined) return [];
    const expected = pretty(more.expected), output = pretty(more.output);
    if (expected === output) return [];
    const parts = wordDiff(expected, output);
    const body = parts === null
      ? el('p', { class: 'note' }, 'Too long and too different to compare here.')
      : el('pre', { tabindex: '0', 'aria-label': 'Difference' }, ...parts.map(([kind, words]) => (kind ? el(kind, null, shown(words)) : shown(words))));
    const clipped = isCut(more.expected) || isCut(more.output);
    return [el('details', { open: row[VERDICT] !== 1, class: 'diff' },
      el('summary', null, 'Difference: ', el('del', null, 'expected'), ' → ', el('ins', null, 'output'), clipped ? ' (of what is in this page)' : ''), body)];
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
  // What a kind of suite adds to the view of a record: the field of its output, the fields it places, and how.
  const kind = { output: 'output', placed: [], details: () => [], ...KIND };
  const table = (titles, cells) => el('table', { class: 'plain' },
    el('thead', null, el('tr', null, ...titles.map((title) => el('th', { scope: 'col' }, title)))),
    el('tbody', null, ...cells.map((row) => el('tr', null, ...row.map((cell) => el('td', null, cell))))));
  const PLACED = ['line', 'input', 'output', 'expected', 'error', 'scores', 'judge', 'primary_metric', ...kind.placed];
  const IDENTITY = ['input_fingerprint', 'output_sha256', 'record_sha256', 'started_at', 'completed_at', 'latency_ms', 'usage'];
  function fact(name, value) { return el('div', null, el('dt', null, name), el('dd', null, value)); }

  function openRecord(id) {
    const n = rows.findIndex((row) => row[ID] === id);
    const dialog = byId('detail');
    if (n < 0) {
      const why = meta.records > rows.length ? 'is not among the records embedded in this page: look in records.jsonl.' : 'is not a record of this run.';
      byId('d-body').replaceChildren(el('div', { class: 'd-bar' }, el('span', { class: 'where' }), button('Close', () => dialog.close())),
        el('h2', { id: 'd-title' }, 'No such record'), el('p', null, el('code', null, plain(id)), ' ' + why));
    } else fillRecord(n);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }
  const button = (title, call, off) => el('button', { type: 'button', disabled: off, on: { click: call } }, title);

  function step(by) {
    const at = view.findIndex((n) => rows[n][ID] === state.r);
    const next = view[at + by];
    if (at < 0 || next === undefined) return;
    state.r = rows[next][ID];
    state.page = Math.floor((at + by) / PAGE);
    show();
    openRecord(state.r);
  }

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
        el('span', { class: 'chip' }, 'repetition ' + row[REP]), el('span', { class: 'chip' }, statusWords(row)),
        ...row[TAGS].map((tag) => el('span', { class: 'chip' }, '#', el('bdi', null, plain(tag)))),
        el('a', { href: '#r=' + row[ID], class: 'permalink' }, 'Link to this record')),
      ...block('Error', 'error', more, 'errorbox'),
      ...block('Input', 'input', more), ...block('Expected', 'expected', more), ...block('Output', 'output', more),
      ...kind.details({ el, shown, plain, parsed, block, table, text }, more, row),
      ...difference(row, more), ...(more.judge === undefined ? [] : judges(more)),
      ...others.flatMap((key) => block(key, key, more)),
      el('h3', null, 'Identity'),
      el('dl', { class: 'facts' }, fact('record_id', row[ID]), fact('index', number(row[INDEX])),
        ...IDENTITY.filter((key) => more[key] !== undefined).map((key) => fact(key + (meta.spine && key.endsWith('_at') ? ' (time spine, no clock)' : ''), shown(text(more[key]))))),
      el('p', { class: 'note' }, 'The record as it is on disk:'),
      el('pre', { class: 'command' }, "sed -n '" + more.line + "p' records.jsonl"),
    ].filter((part) => part !== null));
  }

  // -- wiring
  function choices(id, all, values) {
    byId(id).replaceChildren(el('option', { value: '' }, all), ...values.map(([value, title]) => el('option', { value }, title)));
  }
  const distinct = (at) => [...new Set(rows.flatMap((row) => (row[at] === null ? [] : row[at])))].sort();
  const same = (values) => values.map((value) => [value, plain(value)]);
  choices('f-slot', 'all', same(meta.slots));
  choices('f-verdict', 'all', [['passed', 'passed'], ['failed', 'failed'], ['unassessed', 'not assessed']]);
  choices('f-status', 'all', [...new Set(rows.map((row) => row[STATUS]))].sort().map((at) => [meta.statuses[at], meta.statuses[at].replace('_', ' ')]));
  choices('f-error', 'all', same(distinct(ERROR)));
  choices('f-tag', 'all', same(distinct(TAGS)));
  byId('case-list').append(...distinct(CASE).slice(0, 2000).map((value) => el('option', { value })));
  byId('table').tHead.rows[0].replaceChildren(...COLUMNS.map(({ key, title, order }) => el('th', { scope: 'col', class: 'c-' + key, 'data-key': key, 'data-title': order ? title : null },
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

  byId('table').addEventListener('click', (event) => {
    const row = event.target.closest('tbody tr');
    if (!row || String(getSelection()) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    state.r = rows[row.dataset.n][ID];
    writeAddress();
    openRecord(state.r);
  });
  byId('detail').addEventListener('close', () => {
    state.r = '';
    writeAddress();
  });
  byId('detail').addEventListener('click', (event) => { if (event.target === byId('detail')) byId('detail').close(); });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typed = event.target.closest('input, select, textarea');
    if (byId('detail').open) {
      if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1);
    } else if (event.key === '/' && !typed) {
      event.preventDefault();
      byId('f-q').focus();
    }
  });
  addEventListener('hashchange', () => { go(true); });
  addEventListener('beforeprint', () => { for (const more of document.querySelectorAll('main details')) more.open = true; });

  async function go(moved) {
    if (!readAddress()) { if (!moved) await update(); return; }
    await update();
    if (state.r) openRecord(state.r);
    else {
      if (byId('detail').open) byId('detail').close();
      byId('records').scrollIntoView();
    }
  }
  byId('browser').hidden = false;
  go(false);
})();
