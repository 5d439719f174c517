// Records of a code run: why first, then the task, the program with each finding at its line, and the lines of the test that failed.
({ el, shown, plain, parsed, block, table, text, first, numbered, number }) => ({
  asked: 'Task',
  expects: false,
  question: (more) => text(more.task) || text(more.task_id),
  expected: () => '',
  answer: (more) => text(more.completion),
  why: (more) => first(more, 'error', 'result'),
  placed: ['completion', 'completion_bytes', 'completion_id', 'compile_errors', 'lints', 'panic', 'tests', 'stderr', 'stderr_bytes', 'stderr_sha256',
    'result', 'task_id', 'compile_ok', 'clippy_ok', 'test_ok', 'main_free', 'missing_crates', 'tries', 'task', 'program', 'test_source', 'test_line'],
  details(_, more) {
    const place = (finding) => (finding.file ? finding.file + (finding.line ? ':' + finding.line + (finding.column ? ':' + finding.column : '') : '') : '');
    const list = (field) => parsed(more[field]) || [];
    const findings = (title, field) => {
      const all = list(field);
      return all.length ? [el('h3', null, title), table(['Code', 'Place', 'Message'], all.map((finding) => [plain(finding.code || '–'), plain(place(finding)), shown(finding.message)]))] : [];
    };
    const word = (value, yes, no) => (value === undefined ? 'not asked' : parsed(value) ? yes : no);
    const panic = parsed(more.panic);
    const left = panic && /^([\s\S]*?)\n\s*left: ([\s\S]*?)\n\s*right: ([\s\S]*)$/.exec(panic.message);
    const tests = list('tests');
    // What was said of a line, in the file of the answer and in that of the tests.
    const at = (file) => [...list('compile_errors'), ...list('lints'), ...(panic ? [panic] : [])].filter((finding) => finding.file === file && finding.line);
    const from = Number(text(more.test_line)) || 1;
    const failing = more.test_source === undefined ? [] : numbered('The test', text(more.test_source), from, at('test'));
    return [
      el('p', { class: 'chips' },
        el('span', { class: 'chip' }, 'compiled: ' + word(more.compile_ok, 'yes', 'no')), el('span', { class: 'chip' }, 'clippy: ' + word(more.clippy_ok, 'clean', 'findings')),
        el('span', { class: 'chip' }, 'tests: ' + word(more.test_ok, 'passed', 'failed')),
        more.main_free !== undefined && !parsed(more.main_free) ? el('span', { class: 'chip' }, 'has its own main') : null),
      ...(panic ? [el('h3', null, 'Panic at ' + plain(place(panic) || 'an unknown place')),
        left ? table(['Side', 'Value'], [['left', shown(left[2])], ['right', shown(left[3])]]) : null,
        // The page begins with the error; what it says is not said twice.
        panic.message.trim() === text(more.error).trim() ? null : el('pre', { class: 'errorbox', tabindex: '0' }, shown(panic.message))] : []),
      ...findings('Compiler errors', 'compile_errors'),
      ...(panic && panic.file === 'test' ? failing : []),
      ...block('Task', 'task', more),
      ...(more.program === undefined ? [] : numbered('The program that was judged', text(more.program), 1, at('completion'))),
      ...block('Completion as it came', 'completion', more, '', true),
      ...findings('Lints in the completion', 'lints'),
      ...(tests.length ? [el('h3', null, 'Tests'), table(['Test', 'Outcome'], tests.map((test) => [plain(test.name), test.ok ? 'ok' : 'failed']))] : []),
      ...(panic && panic.file === 'test' ? [] : failing),
      ...(more.stderr ? block('What compiler and tests printed', 'stderr', more) : []),
    ].filter((part) => part !== null);
  },
})
