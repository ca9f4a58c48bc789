import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, focused, holdReply, holdStreams, item, launch, newContext, open, press, settled, startServer, test, until, visit, yesNo } from './harness.mjs';

let server, browser;
before(async () => {
  server = await startServer();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('what is new waits behind a control, and nothing moves', async () => {
  await server.ask(yesNo('First'));
  await server.ask(yesNo('Second'));
  const page = await open(browser, 'about:blank', { wait: null });
  const stream = page.waitForResponse(/\/v1\/events/);
  await page.goto(server.url);
  await stream;
  await page.locator('[data-row]').nth(1).click();
  const rows = () => page.locator('[data-row]').evaluateAll((all) => all.map((row) => row.textContent));
  await until(async () => assert.equal((await rows()).length, 2));
  await until(async () => assert.match(await page.title(), /^\(2\) Inbox/));
  await settled(page); // the page reads again when its stream is open
  const { id } = await server.ask({ type: 'error_recovery', title: 'Urgent', items: [item('choice', { options: ['retry'] })], priority: 0 });
  await page.getByRole('button', { name: '1 new question' }).waitFor();
  assert.equal((await rows()).length, 2);
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  await until(async () => assert.match(await page.title(), /^\(3\) Inbox/));
  await press(page, '.');
  await until(async () => assert.equal((await rows()).length, 3));
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  // Another question ends. Its row stays where it is and shows the end.
  await server.call('POST', `/v1/questions/${id}/cancel`, {});
  await page.locator('[data-row][data-done]', { hasText: 'Withdrawn' }).waitFor();
  assert.equal((await rows()).length, 3);
  assertCalm(page);
  await page.context().close();
});

test('what happens before the stream is open is shown', async () => {
  const context = await newContext(browser);
  await server.ask(yesNo('There before'));
  const page = await open(browser, 'about:blank', { context, wait: null });
  const letGo = await holdStreams(page);
  await page.goto(server.url);
  await page.locator('[data-row]', { hasText: 'There before' }).waitFor();
  await server.ask(yesNo('Between reading and hearing'));
  letGo();
  await page.locator('[data-row]', { hasText: 'Between reading and hearing' }).waitFor();
  assertCalm(page);
  await context.close();
});

test('a page that takes the stream over from a closed one misses nothing', async () => {
  const context = await newContext(browser);
  await server.ask(yesNo('There already'));
  const holder = await open(browser, server.url, { context });
  const heir = await open(browser, 'about:blank', { context, wait: null });
  const letGo = await holdStreams(heir);
  await heir.goto(server.url);
  await heir.locator('[data-row]').first().waitFor();
  await server.ask(yesNo('Heard by both'));
  await heir.getByRole('button', { name: '1 new question' }).waitFor();
  const asked = heir.waitForRequest('**/v1/events?after=*');
  await holder.close();
  await asked;
  await server.ask(yesNo('Asked while nobody heard'));
  letGo();
  await until(async () => {
    await press(heir, '.');
    assert.equal(await heir.locator('[data-row]', { hasText: 'Asked while nobody heard' }).count(), 1);
  });
  assertCalm(heir);
  await context.close();
});

/**
 * Returns a function that waits until the page has received the event that a task ended. The page listens for it before
 * this function returns.
 */
async function hearsEndOf(page, id) {
  await page.evaluate((id) => {
    const channel = new BroadcastChannel('fermata-live');
    window.heardEnd = new Promise((resolve) => {
      channel.onmessage = ({ data }) => data.event?.type === 'task.ended' && data.event.task_id === id && resolve(channel.close());
    });
  }, id);
  return () => page.evaluate(() => window.heardEnd);
}

/** Functions that create a task or a run that waits, by the path of its page. */
const waiting = {
  '/tasks/': async () => (await server.call('POST', '/v1/tasks', { title: 'Paint', runner: 'external' })).id,
  '/workflow-runs/': async () => {
    await server.call('PUT', '/v1/workflows/rest', { source: 'name: rest\ntriggers: [{manual: true}]\nsteps: [{id: rest, tool: wait, input: {for: 9h}}]\n' });
    const { id } = await server.call('POST', '/v1/workflows/rest/runs', {});
    await until(async () => assert.equal((await server.call('GET', `/v1/tasks/${id}`)).state, 'deferred'));
    return id;
  },
};

test('what happens while a page is read is shown', async () => {
  const page = await open(browser, server.url);
  for (const [path, make] of Object.entries(waiting)) {
    const id = await make();
    const heard = await hearsEndOf(page, id);
    const letGo = await holdReply(page, `**/v1${path}${id}`);
    const visited = visit(page, path + id);
    await letGo.read;
    await server.call('POST', `/v1/tasks/${id}/cancel`, {});
    await heard();
    letGo();
    await visited;
    await page.getByText('Cancelled', { exact: true }).first().waitFor();
  }
  assertCalm(page);
  await page.context().close();
});

test('what happened while the reader was elsewhere is shown', async () => {
  const page = await open(browser, server.url);
  for (const [path, make] of Object.entries(waiting)) {
    const id = await make();
    await visit(page, path + id);
    await visit(page, '/settings');
    const heard = await hearsEndOf(page, id);
    await server.call('POST', `/v1/tasks/${id}/cancel`, {});
    await heard();
    await visit(page, path + id);
    await page.getByText('Cancelled', { exact: true }).first().waitFor();
  }
  assertCalm(page);
  await page.context().close();
});

test('an inbox that is read, or left, shows what happens meanwhile', async () => {
  const page = await open(browser, `${server.url}/settings`);
  const { id, task_id: task } = await server.ask(yesNo('Ends meanwhile'));
  const letGo = await holdReply(page, '**/v1/questions?*');
  const visited = visit(page, '/');
  await letGo.read;
  const heard = await hearsEndOf(page, task);
  await server.call('POST', `/v1/tasks/${task}/cancel`, {});
  await server.ask(yesNo('Comes meanwhile'));
  await heard();
  letGo();
  await visited;
  await page.locator('[data-row][data-done]', { hasText: 'Withdrawn' }).waitFor();
  await page.getByRole('button', { name: '1 new question' }).waitFor();
  await visit(page, '/settings');
  const next = await server.ask(yesNo('Comes while nobody looks'));
  await until(async () => assert.equal(await page.evaluate((id) => fetch(`/v1/questions/${id}`).then((reply) => reply.status), next.id), 200));
  await visit(page, '/');
  await page.getByRole('button', { name: '2 new questions' }).waitFor();
  assertCalm(page);
  await page.context().close();
});

test('an urgent question opens by itself on another page, takes no key that was meant for that page, and never opens while somebody types', async () => {
  await server.allowUndo(300);
  const page = await open(browser, `${server.url}/settings`);
  await server.ask({ type: 'non_blocking', title: 'No hurry', items: [item('text', { default: 'x' })] });
  const first = await server.ask(yesNo('Is it urgent?'));
  const dialog = page.getByRole('dialog', { name: 'A question for you' });
  await dialog.getByText('Is it urgent?').first().waitFor();
  const second = await server.ask(yesNo('Is this, too?'));
  await dialog.getByText('1 more waits.').waitFor();
  await page.keyboard.press('y');
  await dialog.locator('[data-takes-keys=false]:not([inert])').waitFor();
  await press(page, 'y');
  await dialog.getByText('Press Tab or click here').waitFor();
  assert.equal((await server.question(first.id)).held, undefined);
  assert.equal(await dialog.locator('kbd').count(), 0);
  await press(page, 'Tab');
  const takesKeys = () => dialog.locator('[data-takes-keys=true]').waitFor();
  await takesKeys();
  await press(page, 'y');
  await dialog.getByRole('heading', { name: 'Is this, too?' }).waitFor();
  await until(async () => assert.equal((await server.question(first.id)).held.answer, true));
  // The answer is taken back where it was given.
  await press(page, 'z');
  await dialog.getByRole('heading', { name: 'Is it urgent?' }).waitFor();
  await until(async () => assert.equal((await server.question(first.id)).held, undefined));
  await server.allowUndo(1);
  for (const key of ['n', 'y']) {
    await takesKeys();
    await press(page, key);
  }
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await server.closed(first.id)).resolution.answer, false);
  assert.equal((await server.closed(second.id)).resolution.answer, true);
  await press(page, 'Control+k');
  const palette = page.getByPlaceholder('Type a command');
  await focused(palette);
  await page.keyboard.type('al');
  await server.ask(yesNo('Do I interrupt?'));
  await page.getByText('A question came: Do I interrupt?').waitFor();
  assert.equal(await dialog.count(), 0);
  await focused(palette);
  await page.keyboard.type('l');
  assert.equal(await palette.inputValue(), 'all');
  assertCalm(page);
  await page.context().close();
});

test('alike approvals are decided together, each with its result; one of high risk is not among them', async () => {
  const ids = [];
  for (const command of ['make a', 'make b', 'make c']) ids.push((await server.ask(approval(`Run ${command}`, { tool: 'bash', command }))).id);
  const risky = await server.ask(approval('Run rm', { tool: 'bash', command: 'rm' }, { risk: 'high' }));
  const page = await open(browser, `${server.url}/approvals`);
  await page.locator('[data-row]', { hasText: 'Run make a' }).click();
  await page.getByRole('button', { name: 'Decide them together' }).waitFor();
  await press(page, 't');
  const lot = page.getByRole('region', { name: '3 questions' });
  await lot.getByText('make c', { exact: true }).waitFor();
  assert.equal(await lot.getByText('rm', { exact: true }).count(), 0);
  await lot.getByRole('checkbox', { name: 'Run make b' }).uncheck();
  await server.call('POST', `/v1/questions/${ids[2]}/cancel`, {});
  await press(page, 'a');
  await lot.getByRole('alertdialog', { name: 'This answers 2 questions at once.' }).waitFor();
  await press(page, 'Enter');
  await lot.getByText('Decided', { exact: true }).waitFor();
  await lot.getByText('Not decided').waitFor();
  await until(async () => assert.equal((await server.question(ids[0])).status, 'answered'));
  assert.equal((await server.question(ids[1])).status, 'pending');
  assert.equal((await server.question(risky.id)).status, 'pending');
  assertCalm(page);
  await page.context().close();
});
