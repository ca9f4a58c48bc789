import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, approval, assertCalm, before, command, item, launch, open, shoot, submitAnswer, test, until, visit } from './harness.mjs';
import { linkFor, signIn, startTeam, withPasskeys } from './people.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

let server, browser, admin;
before(async () => {
  server = await startTeam();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Adds a passkey for the person who is signed in on the page. */
async function addPasskey(page) {
  await visit(page, '/settings/account');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name of the device').fill('Test key');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('listitem').filter({ hasText: 'Test key' }).waitFor();
}

const whoami = (page) => page.evaluate(() => fetch('/v1/whoami').then((reply) => reply.json()));

test('the first link makes the first admin; opening it alone does nothing; used, it says so', async () => {
  const page = await open(browser, server.named + server.firstLink);
  admin = page;
  assert.equal((await whoami(page)).code, 'unauthenticated');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.named}/`);
  const me = await whoami(page);
  assert.equal(me.name, 'admin');
  assert.equal(me.role, 'admin');
  assert.equal(new URL(page.url()).hash, '');
  assertCalm(page);

  const other = await open(browser, server.named + server.firstLink);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
  await assertAccessible(other, 'a dead link');
  await shoot(other, 'sign-in-dead-light-1440');
  await other.context().close();
});

test('who opens a page signs in and is back there', async () => {
  const page = await open(browser, `${server.named}/settings/tokens?x=1`, { wait: 'h1' });
  await page.waitForURL(/\/sign-in\?/);
  assert.equal(new URL(page.url()).searchParams.get('return'), '/settings/tokens?x=1');
  await page.goto(`${page.url()}${new URL(await linkFor(admin, 'admin'), server.named).hash}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.named}/settings/tokens?x=1`);
  await page.getByRole('heading', { name: 'Tokens' }).waitFor();
  await page.context().close();
});

test('sign-in pages are sound at every width and in both themes', async () => {
  const link = await linkFor(admin, 'admin');
  const page = await open(browser, `${server.named}/sign-in`, { scheme: 'dark' });
  await page.getByText('fermata member link').waitFor();
  await assertAccessibleEverywhere(page, 'sign-in');
  await page.goto('about:blank');
  await page.goto(server.named + link);
  await page.getByRole('heading', { name: 'You have a sign-in link' }).waitFor();
  await assertAccessibleEverywhere(page, 'sign-in-link');
  assertCalm(page);
  await page.context().close();
});

test('a passkey is added, signs in, and a session that ended takes nothing that was typed', async () => {
  const page = await open(browser, `${server.named}/sign-in`);
  await withPasskeys(page);
  await signIn(page, server, await linkFor(admin, 'admin'));
  await addPasskey(page);
  await assertAccessible(page, 'sign-in and devices');
  await shoot(page, 'settings-account-light-1440');

  await page.getByRole('button', { name: 'Sign out of this browser' }).click();
  await page.waitForURL(/\/sign-in$/);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL(`${server.named}/`);
  const me = await whoami(page);
  assert.equal(me.assurance, 'passkey');

  const { id } = await server.ask({ type: 'blocking', title: 'What is the plan?', items: [item('text')] });
  await visit(page, `/questions/${id}`);
  const field = page.locator('main').getByRole('textbox').first();
  await field.fill('Ship on Monday, after the tests.');
  await server.call('DELETE', `/v1/sessions/${me.session_id}`);
  await submitAnswer(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Your session has ended').waitFor();
  await assertAccessible(page, 'the sign-in over a page');
  await shoot(page, 'sign-in-dialog-light-1440');
  await dialog.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await dialog.waitFor({ state: 'detached' });
  // The answer that was sent without a session is sent again by itself, unchanged.
  const { resolution } = await server.closed(id);
  assert.equal(Object.values(resolution.answers)[0], 'Ship on Monday, after the tests.');
  await page.context().close();
});

test('a critical approval is signed with a passkey, and its receipt is checked without the server', async () => {
  const page = await open(browser, `${server.named}/sign-in`);
  const { session, authenticatorId } = await withPasskeys(page);
  const known = (isUserVerified) => session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  await server.call('POST', '/v1/members', { handle: 'grace', name: 'Grace', role: 'responder' });
  await signIn(page, server, await linkFor(admin, 'grace'));
  await addPasskey(page);
  const { id } = await server.ask(approval('Drop the table orders?', { command: 'drop table orders' }, { risk: 'critical' }));
  await visit(page, `/questions/${id}`);
  await page.getByText('Your passkey signs the answer.').waitFor();
  const approve = async () => {
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('button', { name: 'Yes, approve' }).click();
  };
  // A device that does not recognize the person signs nothing.
  await known(false);
  await approve();
  await page.getByText('Nothing was signed').waitFor();
  await assertAccessible(page, 'an answer that was not signed');
  await shoot(page, 'question-not-signed-light-1440');
  assert.equal((await server.question(id)).status, 'pending');
  await known(true);
  await approve();
  const ended = page.getByRole('status').filter({ hasText: 'Approved' });
  await ended.getByText('signed with a passkey').waitFor();
  await shoot(page, 'question-signed-light-1440');
  assert.equal((await server.question(id)).resolution.assurance, 'passkey');

  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the receipt' }).click();
  const receipt = await text(await (await download).createReadStream());
  const { public_key: key, signed } = await server.call('GET', '/v1/audit/verify');
  assert.equal(signed, 1);
  const verified = command(['receipt', 'verify', '-', '--public-key', key], receipt);
  assert.match(verified, /the receipt is genuine/);
  assert.match(verified, /^decided  grace, known by a passkey, which signed this decision$/m);
  assert.throws(() => command(['receipt', 'verify', '-', '--public-key', key], receipt.replaceAll('drop table orders', 'drop table users')), /not signed with the key/);
  await page.context().close();
});

test('another tab that signs in lets this one go on', async () => {
  const page = await open(browser, `${server.named}/sign-in`);
  await signIn(page, server, await linkFor(admin, 'admin'));
  const me = await whoami(page);
  await visit(page, '/settings/people');
  await page.getByRole('heading', { name: 'People', level: 2 }).waitFor();
  await server.call('DELETE', `/v1/sessions/${me.session_id}`);
  // The page may notice on its own first. Its dialog is then over the link.
  await page.locator('a', { hasText: 'Rules for questions' }).dispatchEvent('click');
  await page.getByRole('dialog').getByText('Your session has ended').waitFor();
  const other = await page.context().newPage();
  await signIn(other, server, await linkFor(admin, 'admin'));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await until(async () => assert.equal(await page.getByLabel('Shortest time').inputValue(), '5m'));
  await page.context().close();
});

test('an answer that waits is not sent by somebody else who signs in', async () => {
  await server.call('POST', '/v1/members', { handle: 'eve' });
  const page = await open(browser, `${server.named}/sign-in`);
  await signIn(page, server, await linkFor(admin, 'admin'));
  const { session_id } = await whoami(page);
  const { id } = await server.ask({ type: 'blocking', title: 'Whose word is it?', items: [item('text')] });
  await visit(page, `/questions/${id}`);
  const field = page.locator('main').getByRole('textbox').first();
  await field.fill('The word of the admin.');
  await server.call('DELETE', `/v1/sessions/${session_id}`);
  await submitAnswer(page);
  await page.getByRole('dialog').getByText('Your session has ended').waitFor();
  await signIn(page, server, await linkFor(admin, 'eve'));
  await page.getByText('Whose word is it?').first().waitFor();
  await visit(page, `/questions/${id}`);
  await page.getByRole('heading', { name: 'Whose word is it?' }).waitFor();
  assert.equal((await server.question(id)).status, 'pending');
  assert.equal((await server.question(id)).held, undefined);
  await signIn(page, server, await linkFor(admin, 'admin'));
  const { resolution } = await server.closed(id);
  assert.equal(resolution.answered_by.name, 'admin');
  await page.context().close();
});
