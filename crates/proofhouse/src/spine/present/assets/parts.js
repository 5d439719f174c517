// Runs too large for one page: its records lie beside it in parts, of which one at a time is in memory. A part is a script that calls
// `proofhousePart` with rows and texts; the page's policy lets no other address be loaded.
let refreshChoices = () => {};
function openParts() {
  if (!meta.parts) return;
  const embedded = rows;
  const address = (name) => { if (!/^[0-9]{4,}\.js$/.test(name)) throw new TypeError('not a part'); return meta.data + name; };
  const policy = window.trustedTypes ? trustedTypes.createPolicy('proofhouse-parts', { createScriptURL: address }) : { createScriptURL: address };
  const select = byId('p-part');
  const range = (at) => number((at - 1) * meta.part_records + 1) + '–' + number(Math.min(at * meta.part_records, meta.records));
  select.append(el('option', { value: '0' }, number(embedded.length) + ' to look at first'),
    ...Array.from({ length: meta.parts }, (_, at) => el('option', { value: String(at + 1) }, range(at + 1) + ' of ' + number(meta.records))));
  const take = (records, details) => {
    rows = records;
    partTexts = details;
    mixed = null;
    state.page = 0;
    refreshChoices();
    byId('p-loading').textContent = '';
    update();
    fillMatrix();
  };
  let wanted = 0;
  window.proofhousePart = (part, records, details) => { if (part === wanted) take(records, details); };
  select.addEventListener('input', () => {
    wanted = Number(select.value);
    if (wanted === 0) { take(embedded, null); return; }
    byId('p-loading').textContent = 'Loading…';
    const script = el('script', null);
    script.src = policy.createScriptURL(String(wanted).padStart(4, '0') + '.js');
    script.addEventListener('load', () => script.remove());
    script.addEventListener('error', () => { script.remove(); byId('p-loading').textContent = 'This part is not beside the page.'; });
    document.body.append(script);
  });
  byId('parts').hidden = false;
}
