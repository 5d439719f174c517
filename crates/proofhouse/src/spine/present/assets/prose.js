// Markdown on request: headings, lists, quotes, code, emphasis. Links and pictures stay text, so nothing in an answer leads anywhere.
const looksMarked = (whole) => whole.length < 65536 && /(^|\n)(#{1,6} |[-*] |\d+\. |> |```)|\*\*[^*\n]+\*\*|`[^`\n]+`/.test(whole);
function inline(line) {
  const out = [];
  let rest = line;
  for (;;) {
    const found = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/.exec(rest);
    if (!found) { out.push(shown(rest)); return out; }
    out.push(shown(rest.slice(0, found.index)));
    const [name, words] = found[1] !== undefined ? ['code', found[1]] : found[2] !== undefined ? ['strong', found[2]] : ['em', found[3]];
    out.push(el(name, null, shown(words)));
    rest = rest.slice(found.index + found[0].length);
  }
}
function rendered(whole) {
  const out = [], lines = whole.split('\n');
  let paragraph = [];
  const flush = () => { if (paragraph.length) out.push(el('p', null, ...inline(paragraph.join(' ')))); paragraph = []; };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at], heading = /^(#{1,6}) (.*)$/.exec(line), item = /^\s*([-*]|\d+\.) (.*)$/.exec(line), quote = /^> ?(.*)$/.exec(line);
    if (line.startsWith('```')) {
      flush();
      const from = at + 1;
      while (at + 1 < lines.length && !lines[at + 1].startsWith('```')) at++;
      out.push(el('pre', { tabindex: '0' }, shown(lines.slice(from, at + 1).join('\n'))));
      at++;
    } else if (heading) { flush(); out.push(el('p', { class: 'prose-heading' }, ...inline(heading[2]))); }
    else if (item) {
      flush();
      const ordered = item[1].endsWith('.'), last = out[out.length - 1], name = ordered ? 'OL' : 'UL';
      const list = last && last.tagName === name ? last : el(name.toLowerCase());
      list.append(el('li', null, ...inline(item[2])));
      if (list !== last) out.push(list);
    } else if (quote) { flush(); out.push(el('blockquote', null, ...inline(quote[1]))); }
    else if (!line.trim()) flush();
    else paragraph.push(line);
  }
  flush();
  return out;
}
