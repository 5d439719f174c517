'use strict';
const at = document.getElementById('live');
const bar = document.getElementById('bar');
const events = new EventSource(at.dataset.events);
events.addEventListener('progress', (event) => {
  const now = JSON.parse(event.data);
  at.textContent = now.done + ' of ' + now.total + ' trials, ' + now.passed + ' passed, ' + now.failed + ' failed';
  bar.max = Math.max(now.total, 1);
  bar.value = now.done;
});
events.addEventListener('done', (event) => { events.close(); location.assign(event.data); });
