// The matrix: each case on each target, answers side by side.
const MATRIX = 20;
const matrix = { page: 0, differ: false, against: '', list: null, turn: 0 };
// Cases in the order of the plan, with the records of each target.
function byCase() {
  const cases = new Map();
  for (let n = 0; n < rows.length; n++) {
    if (!matches(rows[n])) continue;
    const key = JSON.stringify([rows[n][CASE], rows[n][VARIANT]]);
    let found = cases.get(key);
    if (!found) cases.set(key, found = meta.slots.map(() => []));
    found[rows[n][SLOT]].push(n);
  }
  return [...cases.values()];
}
const answerOf = (n) => kind.answer(texts(n)) || text(texts(n).error);
// What a target said to a case, however often; targets differ where one said what another did not.
const saidBy = (records) => JSON.stringify([...new Set(records.map((n) => rows[n][VERDICT] + answerOf(n)))].sort());
const differs = (slots) => new Set(slots.filter((records) => records.length).map(saidBy)).size > 1;
// A target's distinct answers to a case, each with how often it came.
function distinct(records) {
  const found = new Map();
  for (const n of records) {
    const key = rows[n][VERDICT] + answerOf(n), same = found.get(key);
    if (same) same.count++; else found.set(key, { n, count: 1 });
  }
  return [...found.values()];
}
function matrixCell(records, other) {
  if (!records.length) return el('td', null, el('span', { class: 'soft' }, '–'));
  return el('td', null, ...distinct(records).slice(0, 4).map(({ n, count }) => {
    const row = rows[n], answer = clipped(answerOf(n), 1200), facts = spent(n);
    const parts = other === null || other === answer ? null : wordDiff(clipped(other, 1200), answer);
    return el('div', { class: 'said-by' }, el('a', { href: '#r=' + row[ID] }, badge(row)), count > 1 ? el('small', null, ' ' + count + ' ×') : null,
      el('div', { class: 'answer' }, ...(parts ? parts.map(([change, words]) => (change ? el(change, null, shown(words)) : shown(words))) : [shown(answer)])),
      facts.length ? el('small', null, facts.join(' · ')) : null);
  }));
}
function matrixRow(slots) {
  const n = slots.flat()[0], more = texts(n), against = meta.slots.indexOf(matrix.against);
  const base = matrix.against === 'expected' ? kind.expected(more) || null : against >= 0 && slots[against].length ? clipped(answerOf(slots[against][0]), 1200) : null;
  return el('tr', null,
    el('th', { scope: 'row' }, el('a', { href: '#case=' + encodeURIComponent(rows[n][CASE]) }, el('bdi', null, caseName(rows[n]))),
      el('div', { class: 'asked' }, shown(clipped(kind.question(more), 400))),
      kind.expected(more) ? el('div', { class: 'asked' }, el('small', null, 'expected '), shown(clipped(kind.expected(more), 300))) : null),
    ...slots.map((records, at) => matrixCell(records, at === against ? null : base)));
}
async function fillMatrix() {
  if (!byId('matrix-table')) return;
  const turn = ++matrix.turn;
  let list = byCase();
  if (matrix.differ) {
    const kept = [];
    let pause = performance.now() + 40;
    for (const slots of list) {
      if (differs(slots)) kept.push(slots);
      if (performance.now() > pause) {
        await new Promise((resume) => setTimeout(resume));
        if (turn !== matrix.turn) return;
        pause = performance.now() + 40;
      }
    }
    list = kept;
  }
  const pages = Math.max(1, Math.ceil(list.length / MATRIX));
  matrix.page = Math.min(matrix.page, pages - 1);
  const part = list.slice(matrix.page * MATRIX, (matrix.page + 1) * MATRIX);
  byId('matrix-table').tHead.rows[0].replaceChildren(el('th', { scope: 'col' }, kind.asked || 'Question'),
    ...meta.slots.map((slot) => el('th', { scope: 'col' }, el('bdi', null, plain(slot)))));
  byId('matrix-table').tBodies[0].replaceChildren(...part.map(matrixRow));
  byId('m-count').textContent = number(list.length) + (matrix.differ ? ' cases on which the targets differ' : list.length === 1 ? ' case' : ' cases')
    + (pages > 1 ? '; page ' + number(matrix.page + 1) + ' of ' + number(pages) : '');
  byId('m-prev').disabled = matrix.page === 0;
  byId('m-next').disabled = matrix.page === pages - 1;
  byId('m-prev').hidden = byId('m-next').hidden = pages === 1;
  root.dataset.matrix = String((Number(root.dataset.matrix) || 0) + 1);
}
function openMatrix() {
  if (!byId('matrix-table')) return;
  byId('m-against').append(el('option', { value: '' }, 'nothing'), ...(kind.expects ? [el('option', { value: 'expected' }, 'what is expected')] : []),
    ...meta.slots.map((slot) => el('option', { value: slot }, plain(slot))));
  byId('m-differ').addEventListener('input', () => { matrix.differ = byId('m-differ').checked; matrix.page = 0; fillMatrix(); });
  byId('m-against').addEventListener('input', () => { matrix.against = byId('m-against').value; fillMatrix(); });
  byId('m-prev').addEventListener('click', () => { matrix.page--; fillMatrix(); });
  byId('m-next').addEventListener('click', () => { matrix.page++; fillMatrix(); });
  byId('matrix-browser').hidden = false;
  fillMatrix();
}
