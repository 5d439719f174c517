// What changed between two texts, word by word.
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
// Two texts as one, with what changed marked; a note where they are too long for that.
function marked(before, after, label) {
  const parts = wordDiff(before, after);
  return parts === null
    ? el('p', { class: 'note' }, 'Too long and too different to compare here.')
    : el('pre', { tabindex: '0', 'aria-label': label }, ...parts.map(([change, words]) => (change ? el(change, null, shown(words)) : shown(words))));
}
