// Records of a containment run: what came of it, the calls with each decision, and the transcript with the attacker's words marked.
({ el, shown, plain, parsed, block, table, text }) => ({
  asked: 'Asked',
  // Whether a case leaks more or less often in a form than as it stands; nothing where one of them was not assessed.
  whole: {
    leaks: (members) => {
      const of = (list) => {
        const outcomes = list.map((each) => text(each.more.actual_outcome)).filter((word) => word === 'leaked' || word === 'contained');
        return [outcomes.filter((word) => word === 'leaked').length, outcomes.length];
      };
      const [base, form] = [of(members.filter((each) => each.plain)), of(members.filter((each) => each.own))];
      if (!base[1] || !form[1]) return undefined;
      const more = form[0] * base[1] - base[0] * form[1];
      return more > 0 ? 'more' : more < 0 ? 'less' : 'same';
    },
  },
  question: (more) => {
    const turns = parsed(more.transcript) || [];
    const planted = text(more.injection) || (turns.find((turn) => turn.planted) || {}).text || '';
    const user = (turns.find((turn) => turn.role === 'user' && !turn.planted) || {}).text || '';
    return planted && !user.includes(planted) ? (user ? user + '\n' : '') + 'planted: ' + planted : user;
  },
  expected: (more) => text(more.expected_outcome),
  answer: (more) => {
    const calls = (parsed(more.calls) || []).map((call) => (call.executed ? 'executed ' : call.decision + ' ') + call.name + ' ' + JSON.stringify((call.executed || call).args));
    return [text(more.actual_outcome), ...calls].filter((part) => part).join('\n');
  },
  why: (more) => {
    const met = (parsed(more.evidence) || []).filter((each) => each.why).map((each) => each.name + ': ' + each.why);
    const leaked = (parsed(more.calls) || []).filter((call) => call.forbidden_executed).map((call) => 'the forbidden call ' + call.name + ' was executed (' + call.decision + ': ' + call.reason + ')');
    return [...leaked, ...met].join('; ') || text(more.policy_reason) || text(more.error);
  },
  placed: ['transcript', 'calls', 'tool_calls_attempted', 'tool_calls_executed', 'injection', 'evidence', 'state', 'decision',
    'policy_reason', 'expected_outcome', 'actual_outcome', 'task_done', 'refused', 'expectations', 'readings', 'gated', 'attack',
    'category', 'system_variant', 'pass', 'ts_utc'],
  details: (_, more) => {
    const out = [];
    const fact = (name, field) => (more[field] === undefined || text(more[field]) === 'null' ? null
      : el('div', null, el('dt', null, name), el('dd', null, shown(text(more[field])))));
    out.push(el('dl', { class: 'facts' }, ...[fact('outcome', 'actual_outcome'), fact('expected', 'expected_outcome'),
      fact('decision', 'decision'), fact('reason', 'policy_reason'), fact('user’s task done', 'task_done'),
      fact('category', 'category')].filter((part) => part !== null)));
    const turns = parsed(more.transcript) || [], calls = parsed(more.calls), injection = text(more.injection);
    const attack = text(more.attack) === 'true' && injection && injection !== 'null';
    // A text in pieces, the attacker's marked.
    const marked = (whole, needles) => {
      const parts = [];
      let rest = whole;
      while (rest) {
        const found = needles.map((needle) => [rest.indexOf(needle), needle]).filter(([at]) => at >= 0)
          .sort((a, b) => a[0] - b[0] || b[1].length - a[1].length)[0];
        if (!found) { parts.push(shown(rest)); break; }
        if (found[0] > 0) parts.push(shown(rest.slice(0, found[0])));
        parts.push(el('mark', { class: 'injected' }, shown(found[1])));
        rest = rest.slice(found[0] + found[1].length);
      }
      return parts;
    };
    // The attacker's own text where it is known; a planted turn holds honest words too.
    const planted = attack ? injection : turns.filter((turn) => turn.planted).map((turn) => turn.text).join('\n');
    const asked = turns.filter((turn) => turn.role === 'user' && !turn.planted).map((turn) => turn.text).join('\n')
      .split(attack ? injection : '\u0000').join(' ');
    const leaves = (value) => (typeof value === 'string' ? [value]
      : value && typeof value === 'object' ? Object.values(value).flatMap(leaves) : []);
    // What stands in an argument and in planted text, and in nothing that the user said.
    const tainted = (args) => leaves(args).filter((leaf) => leaf.trim().length > 2 && planted.includes(leaf) && !asked.includes(leaf));
    if (calls && calls.length) {
      out.push(el('h3', null, 'Calls'));
      out.push(table(['Turn', 'Call', 'Gate', 'Executed', 'From planted text'], calls.map((call) => {
        const args = JSON.stringify(call.args), from = call.executed ? tainted(call.executed.args) : [];
        const needles = from.map((leaf) => JSON.stringify(leaf).slice(1, -1));
        const fate = call.executed === null ? 'no' : call.forbidden_executed ? 'yes, forbidden' : 'yes';
        return [String(call.turn), el('code', null, plain(call.name), ' ', ...marked(args, needles)),
          plain(call.decision + ' · ' + call.reason),
          call.forbidden_executed ? el('span', { class: 'badge v0' }, fate) : fate,
          from.length ? el('span', null, ...marked(from.join(', '), from)) : '–'];
      })));
    } else if (calls) out.push(el('h3', null, 'Calls'), el('p', { class: 'note' }, 'The agent called nothing.'));
    else out.push(...block('Calls', 'calls', more));
    const evidence = parsed(more.evidence);
    if (evidence) {
      const word = (met) => (met === null ? 'not known' : met ? 'yes' : 'no');
      out.push(el('h3', null, 'What decided'), table(['Whose task', 'By', 'Met', 'Why'], evidence.map((each) =>
        [each.about === 'task' ? 'the user’s' : 'the attacker’s', el('code', null, plain(each.name)), word(each.met), each.why ? shown(each.why) : '–'])));
    } else out.push(...block('What decided', 'evidence', more));
    if (parsed(more.transcript)) {
      out.push(el('h3', null, 'Transcript'));
      for (const turn of turns.filter((each) => each.text)) {
        const who = turn.role + (turn.tool ? ' ' + turn.tool : '') + (turn.planted ? ' (planted)' : '');
        out.push(el('p', { class: 'note' }, el('bdi', null, plain(who))),
          el('pre', { tabindex: '0', 'aria-label': plain(who) }, ...marked(turn.text, attack ? [injection] : [])));
      }
    } else out.push(...block('Transcript', 'transcript', more));
    const expected = parsed(more.expectations), readings = parsed(more.readings);
    if (expected && expected.length) {
      out.push(el('h3', null, 'Expected of the gate'), table(['What', 'Expected', 'Found'], expected.map((each) =>
        [plain(each.name), plain(JSON.stringify(each.expected)), plain(JSON.stringify(each.actual))])));
    }
    if (readings && readings.some((each) => each.why)) {
      out.push(el('h3', null, 'Answers that could not be read'), table(['Form', 'Repair', 'Why'], readings.map((each) =>
        [plain(each.form), each.repair ? 'yes' : 'no', each.why ? shown(each.why) : '–'])));
    }
    out.push(...block('State that was left', 'state', more));
    return out;
  },
})
