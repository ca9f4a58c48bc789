import assert from 'node:assert/strict';
import { after, before, draftOf, focused, item, launch, open, press, settled, startServer, startServerToStay, submitAnswer, test, until, yesNo } from './harness.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test('the server is down while somebody answers: the answer waits, and is taken when it is back', async () => {
  let server = await startServerToStay();
  const { id } = await server.ask(yesNo('Down'));
  const page = await open(browser, server.url, { serviceWorkers: 'allow' });
  await page.getByRole('heading', { name: 'Down' }).waitFor();
  await settled(page);
  await server.end('SIGKILL');
  await page.keyboard.press('y');
  await page.locator('[data-entry=queued]').waitFor();
  server = await server.again();
  await page.locator('[data-entry=accepted]').waitFor();
  assert.equal((await server.closed(id)).resolution.answer, true);
  await page.context().close();
  await server.stop();
});

test('the reply to an answer is lost: it is sent again with the same key, and counts once', async () => {
  const server = await startServer();
  const { id } = await server.ask({ type: 'blocking', title: 'Lost', items: [item('text')] });
  const page = await open(browser, server.url, { serviceWorkers: 'allow' });
  const keys = [];
  await page.route('**/answer', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    await route.fetch(); // The request arrives, and its reply does not.
    return route.abort('connectionreset');
  });
  const field = page.getByRole('textbox', { name: 'What shall it be?' });
  await field.waitFor();
  await press(page, 'Enter');
  await focused(field);
  await page.keyboard.type('once');
  assert.equal(await field.inputValue(), 'once');
  await page.keyboard.press('Control+Enter');
  assert.equal((await server.closed(id)).resolution.answer, 'once');
  await until(() => assert.equal(keys.length, 2));
  assert.equal(new Set(keys).size, 1);
  assert.equal(await page.locator('[data-entry=refused]').count(), 0);
  const { items } = await server.call('GET', '/v1/events?after=0&limit=1000', undefined, { Accept: 'application/json' });
  assert.equal(items.filter((event) => event.type === 'question.answered' && event.question_id === id).length, 1);
  await page.context().close();
  await server.stop();
});

test('20 answers given offline survive the end of the tab: each is accepted or honestly refused', async () => {
  const server = await startServer();
  const ids = [];
  for (let n = 0; n < 20; n++) ids.push((await server.ask(yesNo(`Offline ${n}`))).id);
  const page = await open(browser, server.url, { serviceWorkers: 'allow' });
  const context = page.context();
  await page.locator('[data-row]').first().waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await page.locator('[data-row][aria-current]').waitFor();
  await context.setOffline(true);
  await page.reload();
  await page.getByText('Without a connection').waitFor();
  await settled(page);
  for (let n = 0; n < 20; n++) {
    await page.keyboard.press('y');
    await page.waitForFunction((count) => document.querySelectorAll('[data-entry=queued]').length === count, n + 1);
  }
  // What is answered looks answered after a reload, too.
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('[data-entry=queued]').length === 20);
  await page.waitForFunction(() => document.querySelectorAll('[data-row]:not([data-done])').length === 0);
  // Meanwhile another person withdraws one of them.
  await server.call('POST', `/v1/questions/${ids[7]}/cancel`, { reason: 'not needed' });
  await page.close();
  await context.setOffline(false);
  const again = await open(browser, server.url, { context });
  await again.waitForFunction(() => document.querySelectorAll('[data-entry=accepted]').length === 19);
  await again.locator('[data-entry=refused]', { hasText: 'too late' }).waitFor();
  for (const [n, id] of ids.entries()) {
    const { status, resolution } = await server.closed(id);
    assert.deepEqual([status, resolution.answer], n === 7 ? ['cancelled', undefined] : ['answered', true]);
  }
  await context.close();
  await server.stop();
});

test('a session that ends in the middle of an answer loses nothing that was typed, and the answer counts after the next sign-in', async () => {
  const server = await startServer({ args: [] });
  await until(() => assert.match(server.said.join('\n'), /fmt_\S+/));
  server.token = /fmt_\S+/.exec(server.said.join('\n'))[0];
  const link = await until(() => /\/sign-in#(\S+)/.exec(server.said.join('\n')) ?? assert.fail(server.said.join('\n')));
  await server.allowUndo(1);
  const page = await open(browser, `${server.url}/sign-in`, { wait: null });
  const signIn = (token) => page.evaluate(async (secret) => (await fetch('/v1/sign-in/link', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: secret }) })).status, token);
  assert.equal(await signIn(link[1]), 200);
  const { id } = await server.ask({ type: 'blocking', title: 'Session', items: [item('text')] });
  await page.goto(`${server.url}/questions/${id}`);
  await page.getByRole('textbox').fill('all that I typed');
  await page.evaluate(() => fetch('/v1/sign-out', { method: 'POST' }));
  await submitAnswer(page);
  // The question shows it as well, below the dialog.
  await page.getByRole('dialog').getByText('Your session has ended').waitFor();
  assert.equal((await server.question(id)).status, 'pending');
  await until(async () => assert.match(await draftOf(page, id), /all that I typed/));
  // The link is opened in another tab. This page continues by itself, and the answer counts.
  const { url } = await server.call('POST', '/v1/members/admin/links');
  const other = await page.context().newPage();
  await other.goto(`${server.url}/sign-in${new URL(url).hash}`);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { resolution } = await server.closed(id);
  assert.deepEqual([resolution.answer, resolution.answered_by.name], ['all that I typed', 'admin']);
  await page.getByText('You answered').waitFor();
  await until(async () => assert.equal(await draftOf(page, id), null));
  await page.context().close();
  await server.stop();
});
