import assert from 'node:assert/strict';
import { after, assertCalm, before, item, launch, open, shoot, test, until, visit } from './harness.mjs';
import { linkFor, signIn, startTeam } from './people.mjs';
import { assertAccessible } from './accessibility.mjs';

let server, browser, admin;
before(async () => {
  server = await startTeam();
  browser = await launch();
  admin = await open(browser, `${server.named}/sign-in`, { serviceWorkers: 'allow' });
  await signIn(admin, server, server.firstLink);
  await server.call('POST', '/v1/members', { handle: 'ada' });
  await server.call('POST', '/v1/members', { handle: 'eve' });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const whoami = (page) => page.evaluate(() => fetch('/v1/whoami').then((reply) => reply.json()));
const text = (title) => ({ type: 'blocking', title, items: [item('text')] });
const field = (page) => page.locator('main').getByRole('textbox').first();
const signOut = (page) => page.getByRole('button', { name: 'Sign out of this browser' });

/** Returns everything that a browser keeps for these pages, as one text. */
const kept = (page) => page.evaluate(async () => {
  const rows = async (name, store) => {
    if (!(await indexedDB.databases()).some((each) => each.name === name)) return [];
    const db = await new Promise((resolve, reject) => Object.assign(indexedDB.open(name), { onsuccess: (event) => resolve(event.target.result), onerror: reject }));
    return new Promise((resolve) => {
      db.transaction(store).objectStore(store).getAll().onsuccess = (event) => {
        db.close();
        resolve(event.target.result);
      };
    });
  };
  const caches_ = await Promise.all((await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)));
  return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, await rows('fermata-last', 'questions'), await rows('fermata-outbox', 'answers'), caches_]);
});

/** Opens a browser in which a member is signed in. */
async function browserOf(handle) {
  const page = await open(browser, `${server.named}/sign-in`, { serviceWorkers: 'allow' });
  await signIn(page, server, await linkFor(admin, handle));
  return page;
}

test('a sign-out takes all that the browser kept of the person, in every tab', async () => {
  const { id } = await server.ask(text('Only for Ada to read'));
  const page = await browserOf('ada');
  await page.getByText('Only for Ada to read').first().waitFor();
  await until(async () => assert.match(await kept(page), /Only for Ada to read/));
  const other = await page.context().newPage();
  await other.goto(`${server.named}/questions/${id}`);
  await field(other).fill('A secret thought');
  await until(async () => assert.match(await kept(page), /A secret thought/));
  await visit(page, '/settings/account');
  await signOut(page).click();
  // The sign-out deletes drafts as well, and the dialog says so first.
  await page.getByRole('dialog').getByText('What you began to write').waitFor();
  await assertAccessible(page, 'the question before a sign-out');
  await shoot(page, 'sign-out-begun-light-1440');
  await page.getByRole('dialog').getByRole('button', { name: 'Stay signed in' }).click();
  assert.equal((await whoami(page)).name, 'ada');
  await signOut(page).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out of this browser' }).click();
  await page.waitForURL(/\/sign-in$/);
  await other.waitForURL(/\/sign-in$/);
  const left = await kept(page);
  assert.doesNotMatch(left, /Only for Ada|A secret thought|ada/);
  assertCalm(page);
  await page.context().close();
});

test('answers that were not sent are asked about, wait for their author alone, and are sent then', async () => {
  const { id } = await server.ask(text('Which harbour?'));
  const page = await browserOf('ada');
  await visit(page, `/questions/${id}`);
  await field(page).fill('Hamburg');
  // Answers cannot reach the server. All other calls can.
  await page.route('**/answer', (route) => route.abort('connectionreset'));
  await field(page).press('Control+Enter');
  await page.goto(`${server.named}/`);
  await page.locator('[data-entry=queued]').waitFor();
  await visit(page, '/settings/account');
  await signOut(page).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('An answer of yours has not been sent').waitFor();
  await dialog.getByText('Hamburg · Which harbour?').waitFor();
  await assertAccessible(page, 'unsent answers before a sign-out');
  await shoot(page, 'sign-out-unsent-light-1440');
  await dialog.getByRole('button', { name: 'Send them now' }).click();
  await dialog.getByText('They could not be sent now.').waitFor();
  await dialog.getByRole('button', { name: 'Sign out and keep them here' }).click();
  await page.waitForURL(/\/sign-in$/);
  await page.unroute('**/answer');

  await signIn(page, server, await linkFor(admin, 'eve'));
  await page.getByText('Which harbour?').first().waitFor();
  assert.equal(await page.locator('[data-outbox]').count(), 0);
  assert.equal(await page.getByText('Hamburg').count(), 0);
  await visit(page, `/questions/${id}`);
  assert.equal(await field(page).inputValue(), '');
  await visit(page, '/settings/account');
  await signOut(page).click();
  await page.waitForURL(/\/sign-in$/);
  assert.equal((await server.question(id)).status, 'pending');

  await signIn(page, server, await linkFor(admin, 'ada'));
  const { resolution } = await server.closed(id);
  assert.deepEqual([resolution.answer, resolution.answered_by.name], ['Hamburg', 'ada']);
  await page.locator('[data-entry=accepted]').waitFor();
  assertCalm(page);
  await page.context().close();
});

test('answers that were not sent can be sent first, or thrown away', async () => {
  const { id } = await server.ask(text('Which ship?'));
  const { id: thrown } = await server.ask(text('Which crew?'));
  const page = await browserOf('ada');
  const giveWithout = async (question, words) => {
    await visit(page, `/questions/${question}`);
    await field(page).fill(words);
    await page.route('**/answer', (route) => route.abort('connectionreset'));
    await field(page).press('Control+Enter');
    await page.goto(`${server.named}/`);
    await page.locator('[data-entry=queued]').waitFor();
    await visit(page, '/settings/account');
    await signOut(page).click();
  };
  await giveWithout(thrown, 'Nobody');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out and throw the answer away' }).click();
  await page.waitForURL(/\/sign-in$/);
  assert.doesNotMatch(await kept(page), /Nobody|crew/);
  await page.unroute('**/answer');
  await signIn(page, server, await linkFor(admin, 'ada'));

  await giveWithout(id, 'The Cap San Diego');
  await page.getByRole('dialog').waitFor();
  await page.unroute('**/answer');
  await page.getByRole('dialog').getByRole('button', { name: 'Send them now' }).click();
  const { resolution } = await server.closed(id);
  assert.equal(resolution.answer, 'The Cap San Diego');
  assert.equal((await server.question(thrown)).status, 'pending');
  await page.context().close();
});

test('who signs in after a session that just ended sees nothing of the one before', async () => {
  const { id } = await server.ask(text('What is it worth?'));
  const page = await browserOf('ada');
  await visit(page, `/questions/${id}`);
  await field(page).fill('A fortune');
  await until(async () => assert.match(await kept(page), /A fortune/));
  const { session_id } = await whoami(page);
  await server.call('DELETE', `/v1/sessions/${session_id}`);
  await signIn(page, server, await linkFor(admin, 'eve'));
  await visit(page, `/questions/${id}`);
  assert.equal(await field(page).inputValue(), '');
  await page.goto(`${server.named}/`);
  await page.getByText('What is it worth?').first().waitFor();
  // Each person has data of their own: Ada's words wait where she left them.
  await signIn(page, server, await linkFor(admin, 'ada'));
  await visit(page, `/questions/${id}`);
  await until(async () => assert.equal(await field(page).inputValue(), 'A fortune'));
  assertCalm(page);
  await page.context().close();
});

test('a sign-in leads on, also when the page notices by itself that somebody else is here', async () => {
  const page = await browserOf('ada');
  const { session_id } = await whoami(page);
  await server.call('DELETE', `/v1/sessions/${session_id}`);
  // The inbox is slow to load. Until then, the sign-in page still runs and reads again which person is signed in.
  let letOn;
  const held = new Promise((resolve) => (letOn = resolve));
  const asked = new Promise((resolve) => page.context().route(`${server.named}/`, async (route) => {
    resolve();
    await held;
    await route.continue();
  }));
  await page.goto(server.named + await linkFor(admin, 'eve'));
  await page.evaluate(() => setInterval(() => document.dispatchEvent(new Event('visibilitychange')), 20));
  const noticed = page.waitForResponse((reply) => reply.url().endsWith('/v1/whoami') && reply.ok());
  const clicked = page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await Promise.all([asked, noticed]);
  letOn();
  await clicked;
  await page.waitForURL(`${server.named}/`);
  assert.equal((await whoami(page)).name, 'eve');
  assertCalm(page);
  await page.context().close();
});

test('a page that outlived its session cannot answer as who came after', async () => {
  const { id } = await server.ask(text('As whom?'));
  const page = await browserOf('eve');
  const reply = await page.evaluate((question) => fetch(`/v1/questions/${question}/answer`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Fermata-Member': 'ada' }, body: JSON.stringify({ answer: 'as Ada' }),
  }).then(async (answer) => [answer.status, (await answer.json()).code]), id);
  assert.deepEqual(reply, [401, 'unauthenticated']);
  assert.equal((await server.question(id)).status, 'pending');
  await page.context().close();
});
