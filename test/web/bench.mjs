// Measures how fast the inbox is with many open questions, in a real browser.
// test/bench runs it and writes its output, one JSON object a line, into
// docs/inside/benchmarks.md.
import { approval, launchFull, startServer } from './harness.mjs';

const many = Number(process.argv[2] ?? 10_000);
const presses = Number(process.argv[3] ?? 200);
const where = `Chromium, 1440 × 900, ${many.toLocaleString('en')} open questions`;

const tell = (what, result, bar = '', kept = null) => console.log(JSON.stringify({ what, where, result, bar, kept }));
const at = (list, share) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const spread = (list) => `p50 ${at(list, 0.5).toFixed(1)} ms, p95 ${at(list, 0.95).toFixed(1)} ms of ${list.length}`;

const server = await startServer({ undo: null });
let next = 0;
await Promise.all(Array.from({ length: 16 }, async () => {
  while (next < many) {
    const n = next++;
    await server.ask(approval(`Run the tests of part ${n}`, { tool: 'bash', command: `make test-${n}` }, { timeout: `${n + 3600}s`, body: `Part ${n} is done.` }));
  }
}));

const browser = await launchFull();
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
await page.addInitScript(() => {
  // Resolves after the browser has painted the frame that shows a change.
  window.painted = (began) => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(performance.now() - began);
    port2.postMessage(0);
  }));
  window.onKey = (ready) => new Promise((resolve) => {
    addEventListener('keydown', (event) => {
      const began = event.timeStamp;
      const look = () => {
        if (!ready()) return;
        watch.disconnect();
        removeEventListener('focusin', look, true);
        resolve(window.painted(began));
      };
      const watch = new MutationObserver(look);
      watch.observe(document.body, { subtree: true, childList: true, attributes: true });
      addEventListener('focusin', look, true);
    }, { capture: true, once: true });
  });
  window.selected = () => document.querySelector('[data-row][aria-current]')?.dataset.row;
});

const began = Date.now();
await page.goto(server.url);
await page.locator('[data-row][aria-current]').waitFor();
await page.getByText('checked here').waitFor();
tell('open the inbox, nothing cached, to the first question', `${Date.now() - began} ms`);
const files = await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => ({ path: new URL(entry.name).pathname, bytes: entry.encodedBodySize })));
const firstLoad = (kind) => files.filter(({ path }) => path.endsWith(kind) && path !== '/sw.js');
if (process.env.DEBUG_SIZES) for (const { path, bytes } of [...firstLoad('.js'), ...firstLoad('.css')]) console.error(bytes, path);
for (const [what, kind, bar] of [['script', '.js', 150], ['style', '.css', 25]]) {
  const bytes = firstLoad(kind).reduce((sum, file) => sum + file.bytes, 0);
  tell(`compressed ${what} of the first load`, `${(bytes / 1024).toFixed(1)} KB`, `≤ ${bar} KB`, bytes > 0 && bytes <= bar * 1024);
}

// Each check prepares the page before the key is pressed.
const checks = {
  moved: () => page.evaluate(() => {
    const was = window.selected();
    window.took = window.onKey(() => window.selected() !== undefined && window.selected() !== was);
  }),
  decided: () => page.evaluate(() => {
    const was = document.querySelector('section h2')?.textContent;
    window.took = window.onKey(() => document.activeElement?.tagName === 'H2' && document.activeElement.textContent !== was);
  }),
};
async function series(key, check, count) {
  const times = [];
  for (let n = 0; n < count; n++) {
    await checks[check]();
    await page.keyboard.press(key);
    times.push(await page.evaluate(() => window.took));
  }
  return times.slice(5); // The first ones warm up.
}

const keys = await series('j', 'moved', presses + 5);
tell('key to paint: next question in the inbox', spread(keys), 'p95 ≤ 50 ms', at(keys, 0.95) <= 50);
const decisions = await series('a', 'decided', presses + 5);
tell('approve to the next question focused and painted', spread(decisions), 'p95 ≤ 100 ms', at(decisions, 0.95) <= 100);

const frames = await page.evaluate(async () => {
  const list = document.querySelector('[data-scroller]');
  const times = [];
  let last = performance.now();
  for (let n = 0; n < 300; n++) {
    list.scrollTop += 700;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  return times;
});
tell('a frame while the list is scrolled, ten rows a frame', spread(frames));

await browser.close();
await server.stop();
