'use strict';
const at = document.getElementById('watch');
const events = new EventSource(at.dataset.events);
events.addEventListener('run', (event) => { if (event.data !== at.dataset.version) location.reload(); });
