import assert from 'node:assert/strict';
import { after, assertCalm, before, gate, holdStreams, item, launchFull, newContext, open, press, startServer, test, until, visit, yesNo } from './harness.mjs';
import { assertAccessibleEverywhere } from './accessibility.mjs';

let server, browser, agent;
before(async () => {
  server = await startServer();
  browser = await launchFull();
  const { secret } = await server.call('POST', '/v1/tokens', { name: 'builder', kind: 'agent', scopes: ['ask', 'work', 'read'] });
  // An agent asks, because people are not notified of their own questions.
  agent = (method, path, body) => server.call(method, path, body, { Authorization: `Bearer ${secret}` });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const ask = (question) => agent('POST', '/v1/questions', { timeout: 'never', ...question });
const news = (page, title) => page.locator('[data-news]').filter({ hasText: title });

/** Creates a task of the reader, which an agent then ends. */
async function ended(title, result) {
  await server.call('POST', '/v1/tasks', { title, runner: title });
  const { run } = await agent('POST', '/v1/claims', { worker: 'w', runners: [title] });
  await agent('POST', `/v1/runs/${run.id}/finish`, { token: run.token, result, summary: 'It is so.' });
}

test('what happened is there, unread until it is marked, and live', async () => {
  const { id } = await ask(yesNo('Shall I delete the branch?'));
  await ended('compress', 'completed');
  const page = await open(browser, `${server.url}/notifications`);
  await news(page, 'compress').getByText('A task is done').waitFor();
  await news(page, 'Shall I delete').getByText('builder asks you').waitFor();
  await page.getByText('2 new').first().waitFor();
  await page.getByRole('navigation').getByLabel('2 new').waitFor();
  await agent('POST', `/v1/questions/${id}/cancel`, { reason: 'not needed' });
  await page.getByText('builder withdrew a question').waitFor();
  await press(page, 'e');
  await page.getByText('Nothing new').waitFor();
  await page.reload();
  await page.getByText('Nothing new').waitFor();
  assert.equal(await page.locator('[data-unread=true]').count(), 0);
  assertCalm(page);
  await page.context().close();
});

test('a simple question is answered with one press; others lead to their page', async () => {
  const { id } = await ask({ type: 'blocking', title: 'Which region?', items: [item('choice', { options: [{ value: 'eu', label: 'Europe', recommended: true }, { value: 'us', label: 'States' }] })] });
  await ask({ type: 'approval', title: 'Deploy it?', items: [item('approval')], action: { tool: 'shell', command: 'make deploy' } });
  const page = await open(browser, `${server.url}/notifications`);
  assert.equal(await news(page, 'Deploy it?').getByRole('button').count(), 0);
  await news(page, 'Deploy it?').getByRole('link', { name: 'Open the question' }).waitFor();
  await news(page, 'Which region?').getByRole('button', { name: 'Europe (Recommended)' }).click();
  const { resolution } = await server.closed(id);
  assert.equal(resolution.answer, 'eu');
  await news(page, 'Which region?').getByText(/Answered.*Europe/).waitFor();
  assert.equal(await news(page, 'Which region?').getAttribute('data-unread'), 'false');
  assertCalm(page);
  await page.context().close();
});

/** Waits until the event stream of the page is open. */
const hears = (page) => until(async () => assert.ok(await page.evaluate(() => window.hears)));

/**
 * Opens a page that records the events that it receives and the notifications that the browser shows. For the page, its
 * reader looks at it until window.looking is false.
 */
async function noting(prepare = async () => undefined) {
  const context = await newContext(browser);
  await context.grantPermissions(['notifications'], { origin: server.url });
  await context.addInitScript(() => {
    window.told = [];
    window.asked = 0;
    window.looking = true;
    window.heard = [];
    document.hasFocus = () => window.looking;
    window.EventSource = class extends window.EventSource {
      constructor(address) {
        super(address);
        this.addEventListener('open', () => (window.hears = true));
        this.addEventListener('question.asked', (event) => window.heard.push(JSON.parse(event.data).question_id));
      }
    };
    const Real = window.Notification;
    window.Notification = class extends Real {
      constructor(title, options) {
        super(title, options);
        window.told.push({ title, body: options.body, notice: this });
      }
      static requestPermission() {
        window.asked++;
        return Real.requestPermission();
      }
    };
  });
  await prepare(context);
  const page = await open(browser, `${server.url}/notifications`, { context });
  assert.equal(await page.evaluate(() => window.asked), 0);
  await page.getByRole('button', { name: 'Tell me in this browser' }).click();
  await page.getByText('This browser tells you.').waitFor();
  assert.equal(await page.evaluate(() => window.asked), 1);
  return { context, page };
}

const tells = (page, ...titles) =>
  until(async () => assert.deepEqual(await page.evaluate(() => window.told.map(({ title, body }) => [title, body])), titles.map((title) => ['builder asks you', title])));

test('the browser notifies a person of news only after it was asked by a press, and only while nobody looks', async () => {
  const { context, page } = await noting();
  await hears(page);
  await ask(yesNo('Seen anyway?'));
  await news(page, 'Seen anyway?').waitFor();
  await page.evaluate(() => (window.looking = false));
  await ask({ type: 'non_blocking', title: 'Not urgent', items: [item('text', { default: 'x' })] });
  const { id } = await ask(yesNo('Look here?'));
  await tells(page, 'Look here?');
  await page.evaluate(() => window.told[0].notice.onclick());
  await page.waitForURL(`${server.url}/questions/${id}`);
  await visit(page, '/notifications');
  await page.getByRole('button', { name: 'Stop telling me here' }).click();
  await page.getByRole('button', { name: 'Tell me in this browser' }).waitFor();
  assertCalm(page);
  await context.close();
});

test('the browser notifies a person of what comes right after the press', async () => {
  const { context, page } = await noting();
  await hears(page);
  await page.evaluate(() => (window.looking = false));
  await ask(yesNo('At once?'));
  await tells(page, 'At once?');
  await context.close();
});

test('the browser notifies a person of what comes before it has read what is old', async () => {
  const { held, release } = gate();
  const { held: reading, release: reads } = gate();
  const { context, page } = await noting();
  await context.route('**/v1/notifications?limit=10', async (route) => {
    reads();
    await held;
    await route.continue();
  });
  // The page reads the old news twice: at its start, and when its stream begins.
  const hear = await holdStreams(context);
  await page.reload();
  await reading;
  hear();
  await hears(page);
  await page.evaluate(() => (window.looking = false));
  const { id } = await ask(yesNo('Too early?'));
  await until(async () => assert.deepEqual(await page.evaluate(() => window.heard), [id]));
  release();
  await tells(page, 'Too early?');
  await context.close();
});

test('the browser notifies a person of what it missed while it had no stream of events', async () => {
  let hear;
  const { context, page } = await noting(async (context) => (hear = await holdStreams(context)));
  await page.evaluate(() => (window.looking = false));
  await ask(yesNo('Missed?'));
  hear();
  await tells(page, 'Missed?');
  await context.close();
});

test('the page is sound at every width and in both schemes', async () => {
  await ask({ ...yesNo('<script>alert(1)</script> ' + 'long'.repeat(20)) });
  await ended('broken', 'failed');
  const page = await open(browser, `${server.url}/notifications`, { scheme: 'dark' });
  await news(page, 'broken').waitFor();
  await assertAccessibleEverywhere(page, 'notifications');
  assertCalm(page);
  await page.context().close();
});
