// Records of a robustness run: the instruction with its edits marked, what the tool printed, and how far it came.
({ el, shown, plain, parsed, block, table, text, edited, judges, number }) => ({
  asked: 'Instruction',
  spares: true,
  expects: false,
  question: (more) => text(more.instruction),
  expected: () => '',
  answer: (more) => text(more.stdout) || text(more.stderr),
  why: (more) => {
    const stage = text(more.failure_stage), ended = text(more.termination);
    const how = ended === 'exited' ? 'exit code ' + text(more.exit_code) : ended === 'signalled' ? 'ended by signal ' + text(more.signal) : ended.replace('_', ' ');
    return [stage ? 'failed in ' + stage : '', how, text(more.error)].filter((part) => part).join(', ') || text(more.stop_reason);
  },
  placed: ['instruction', 'instruction_hash', 'instruction_length', 'edits', 'generator', 'generator_version', 'suite', 'base_case', 'level', 'run_name', 'stdout',
    'stdout_bytes', 'stderr', 'stderr_bytes', 'termination', 'exit_code', 'signal', 'failure_stage', 'attempts', 'repairs_triggered', 'success', 'stop_reason',
    'stop_rule', 'stop_n', 'interesting'],
  details(_, more) {
    const edits = parsed(more.edits) || [];
    const fact = (name, value) => (value === '' ? null : el('div', null, el('dt', null, name), el('dd', null, shown(value))));
    const made = text(more.generator) ? ' by ' + text(more.generator) : '';
    const stages = [fact('mode', text(more.suite)), fact('level', text(more.level)), fact('made from', text(more.base_case)), fact('ended', text(more.termination).replace('_', ' ')),
      fact('exit code', text(more.exit_code)), fact('signal', text(more.signal)), fact('attempts', text(more.attempts)), fact('repairs', text(more.repairs_triggered)),
      fact('failed in', text(more.failure_stage)), fact('differs from the baseline', text(more.interesting) === 'true' ? 'yes' : ''), fact('stopped', text(more.stop_reason))];
    return [
      ...edited('Instruction' + made, text(more.instruction), Array.isArray(edits) ? edits : []),
      el('h3', null, 'Stages'), el('dl', { class: 'facts' }, ...stages.filter((part) => part !== null)),
      ...block('Standard output', 'stdout', more, '', true),
      ...(text(more.stderr) ? block('Standard error', 'stderr', more) : []),
      ...(more.judge === undefined ? [] : judges(more)),
    ];
  },
})
