import assert from 'node:assert/strict';
import { after, assertCalm, before, launch, open, shoot, test, until, visit } from './harness.mjs';
import { signIn, startTeam } from './people.mjs';
import { startPostbox, startProvider } from './postbox.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

let postbox, provider, server, browser;
before(async () => {
  postbox = await startPostbox();
  provider = await startProvider({ sub: 'ada-1', email: 'ada@example.com', email_verified: true });
  process.env.FERMATA_OIDC_CLIENT_SECRET = 'secret';
  server = await startTeam(['--smtp', postbox.url, '--mail-from', 'fermata@example.com', '--oidc-issuer', provider.issuer, '--oidc-client-id', 'fermata', '--oidc-name', 'Example Inc']);
  await server.call('POST', '/v1/members', { handle: 'ada', email: 'ada@example.com' });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  postbox.stop();
  provider.stop();
});

const name = (page) => page.evaluate(() => fetch('/v1/whoami').then((reply) => reply.json())).then((me) => me.name);

test('a link by mail signs in, and an unknown address is told the same', async () => {
  const page = await open(browser, `${server.named}/sign-in`);
  const mail = page.getByLabel('E-mail address');
  await mail.fill('ada');
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Write an address such as').waitFor();
  await mail.fill('nobody@example.com');
  await mail.press('Enter');
  await page.getByText('If nobody@example.com belongs to a member here').waitFor();
  await page.getByRole('button', { name: 'Use another address' }).click();
  await mail.fill('ada@example.com');
  await mail.press('Enter');
  await page.getByText('Look into your mail').waitFor();
  await shoot(page, 'sign-in-mail-sent-light-1440');
  const link = await until(() => {
    const found = /\/sign-in#fml_\w+/.exec(postbox.mails.join('\n').replaceAll('=\n', ''));
    assert.ok(found, 'a mail with a link');
    return found[0];
  });
  assert.equal(postbox.mails.length, 1);
  await page.goto(server.named + link);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.named}/`);
  assert.equal(await name(page), 'ada');
  assertCalm(page);
  await page.context().close();
});

test('the identity provider signs in, and leads back to where one was', async () => {
  const page = await open(browser, `${server.named}/settings/account`);
  await page.waitForURL(/\/sign-in\?return=/);
  await page.getByRole('link', { name: 'Sign in with Example Inc' }).click();
  await page.waitForURL(`${server.named}/settings/account`);
  assert.equal(await name(page), 'ada');
  await page.getByText('ada@example.com').waitFor();
  // A person who signs out can also sign out there. Otherwise the next person at this browser would come in without a
  // password.
  await page.getByRole('button', { name: 'Sign out of this browser' }).click();
  const there = page.getByRole('link', { name: 'Sign out of Example Inc, too' });
  await there.waitFor();
  await assertAccessible(page, 'the sign-in page after a sign-out');
  await shoot(page, 'sign-out-provider-light-1440');
  await there.click();
  await page.waitForURL(`${provider.issuer}/sign-out?*`);
  await page.getByRole('link', { name: 'Leave' }).click();
  await page.waitForURL(`${server.named}/sign-in`);
  await page.getByRole('link', { name: 'Sign in with Example Inc' }).waitFor();
  assert.equal(await there.count(), 0);
  assertCalm(page);
  await page.context().close();
});

test('what goes wrong elsewhere is said in words', async () => {
  const page = await open(browser, `${server.named}/v1/sign-in/oidc/callback?error=access_denied&state=x`);
  await page.getByText('the sign-in was stopped there').waitFor();
  await assertAccessible(page, 'a sign-in that failed');
  await shoot(page, 'sign-in-failed-light-1440');
  await page.context().close();
});

test('the page with every way is sound at every width and in both themes', async () => {
  const page = await open(browser, `${server.named}/sign-in`, { scheme: 'dark' });
  await page.getByLabel('E-mail address').waitFor();
  await assertAccessibleEverywhere(page, 'sign-in-all');
  await page.context().close();
});

test('a session that ended is begun again in a new tab, and the page stays', async () => {
  const page = await open(browser, `${server.named}/sign-in`);
  await signIn(page, server, server.firstLink);
  const { session_id } = await page.evaluate(() => fetch('/v1/whoami').then((reply) => reply.json()));
  await visit(page, '/settings/policy');
  await page.getByLabel('Shortest time').fill('7m');
  await server.call('DELETE', `/v1/sessions/${session_id}`);
  // The page may notice on its own first. Its dialog is then over the button.
  await page.locator('button', { hasText: 'Save the rules' }).dispatchEvent('click');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('link', { name: 'Sign in with Example Inc' }).waitFor();
  await assertAccessible(page, 'the sign-in over a page');
  await shoot(page, 'sign-in-dialog-all-light-1440');
  assert.equal(await page.getByLabel('Shortest time').inputValue(), '7m');
  await page.context().close();
});
