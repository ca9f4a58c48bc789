import assert from 'node:assert/strict';
import { after, assertCalm, before, chooseTyped, gate, launch, open, press, shoot, test, until, visit } from './harness.mjs';
import { linkFor, signIn, someHistory, startTeam, withPasskeys } from './people.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

let server, browser, page;
before(async () => {
  server = await startTeam();
  await someHistory(server);
  browser = await launch();
  page = await open(browser, `${server.named}/sign-in`);
  await signIn(page, server, server.firstLink);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const section = async (name) => {
  await visit(page, `/settings/${name}`);
  await page.locator('section h2').first().waitFor();
};
const dialog = () => page.getByRole('dialog');

test('a person is invited by a link that is shown once, and changed', async () => {
  await section('people');
  await press(page, 'n');
  await dialog().getByRole('button', { name: 'Make the invitation' }).click();
  await dialog().getByText('This is needed.').waitFor();
  await dialog().getByLabel('E-mail').fill('linus@example.com');
  await dialog().getByRole('radio', { name: 'Operator' }).check();
  await dialog().getByRole('button', { name: 'Add a project' }).click();
  await dialog().getByLabel('Project', { exact: true }).fill('shop');
  await dialog().getByRole('heading', { name: 'Invite a person' }).click();
  await shoot(page, 'settings-invite-light-1440');
  await assertAccessible(page, 'the invitation');
  await dialog().getByRole('button', { name: 'Make the invitation' }).click();
  const secret = await dialog().locator('[data-secret]').textContent();
  assert.match(secret, /\/sign-in#fml_/);
  await assertAccessible(page, 'the link of the invitation');
  await shoot(page, 'settings-invited-light-1440');
  await dialog().getByRole('button', { name: 'Done' }).click();
  await page.getByRole('list', { name: 'Invitations' }).getByText('linus', { exact: true }).waitFor();

  const theirs = await open(browser, server.named + new URL(secret).pathname + new URL(secret).hash);
  await theirs.getByRole('button', { name: 'Sign in', exact: true }).click();
  await theirs.waitForURL(`${server.named}/`);
  const row = page.getByRole('list', { name: 'People' }).getByRole('listitem').filter({ hasText: 'linus' });
  await row.getByText('Operator', { exact: true }).waitFor();
  await until(async () => assert.match(await row.textContent(), /Viewer in shop/));

  await row.getByRole('button', { name: 'Change: linus' }).click();
  await dialog().getByLabel('Name', { exact: true }).fill('Linus <b>T</b>');
  await dialog().getByRole('radio', { name: 'Responder' }).check();
  await dialog().getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'No role' }).click();
  await dialog().getByRole('button', { name: 'Save' }).click();
  await row.getByText('Linus <b>T</b> (linus)').waitFor();
  await until(async () => assert.match(await row.textContent(), /No role in shop/));
  await row.getByRole('button', { name: 'Disable: linus' }).click();
  await dialog().getByRole('button', { name: 'Disable', exact: true }).click();
  await row.getByText(/Disabled since/i).waitFor();
  await until(async () => assert.equal((await theirs.evaluate(() => fetch('/v1/whoami').then((reply) => reply.status))), 401));
  await theirs.context().close();
  assertCalm(page);
});

test('an admin sees by which devices a person comes in, and ends them', async () => {
  const theirs = await open(browser, `${server.named}/sign-in`);
  await withPasskeys(theirs);
  await signIn(theirs, server, await linkFor(page, 'grace'));
  await visit(theirs, '/settings/account');
  await theirs.getByRole('button', { name: 'Add a passkey' }).click();
  await theirs.getByLabel('Name of the device').fill('Lost laptop');
  await theirs.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await theirs.getByRole('listitem').filter({ hasText: 'Lost laptop' }).waitFor();

  await section('people');
  await page.getByRole('button', { name: 'Devices: grace' }).click();
  await dialog().getByText('Chrome, Linux').waitFor();
  await assertAccessible(page, 'the devices of a person');
  await shoot(page, 'settings-devices-light-1440');
  await dialog().getByRole('button', { name: 'Remove: Lost laptop' }).click();
  await dialog().getByRole('button', { name: 'Remove', exact: true }).click();
  await dialog().getByText('No passkey.').waitFor();
  await dialog().getByRole('button', { name: 'Sign out: Chrome, Linux' }).click();
  await dialog().getByRole('button', { name: 'Sign out', exact: true }).click();
  await dialog().getByText('Signed in nowhere.').waitFor();
  await dialog().getByRole('button', { name: 'Done' }).click();
  assert.equal(await theirs.evaluate(() => fetch('/v1/whoami').then((reply) => reply.status)), 401);
  assert.deepEqual((await server.call('GET', '/v1/members/grace/passkeys')).items, []);
  await theirs.context().close();
  assertCalm(page);
});

test('a group is made, changed and dissolved', async () => {
  await section('groups');
  await page.getByRole('button', { name: 'Make a group' }).click();
  await dialog().getByLabel('Name').fill('reviewers');
  await chooseTyped(dialog().getByRole('combobox'), 'ada', 'ada');
  await press(page, 'Escape');
  await page.getByRole('option', { name: 'ada' }).waitFor({ state: 'hidden' });
  assert.equal(await dialog().count(), 1, 'Escape in a list of choices closed the dialog');
  await dialog().getByRole('button', { name: 'Make a group' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'reviewers' });
  await row.getByText('ada').waitFor();
  await row.getByRole('button', { name: 'Dissolve: reviewers' }).click();
  await dialog().getByRole('button', { name: 'Dissolve' }).click();
  await row.waitFor({ state: 'detached' });
  assertCalm(page);
});

test('a token is made, works, and is withdrawn', async () => {
  await section('tokens');
  await press(page, 'n');
  await dialog().getByRole('textbox', { name: 'Name' }).fill('claude on build-1');
  assert.ok(await dialog().getByRole('checkbox', { name: 'Answer' }).isDisabled());
  await dialog().getByLabel('Projects', { exact: true }).pressSequentially('shop,');
  await dialog().getByText('shop', { exact: true }).waitFor();
  await dialog().getByRole('heading', { name: 'Make a token' }).click();
  await assertAccessible(page, 'the form of a token');
  await shoot(page, 'settings-token-form-light-1440');
  await press(page, 'Control+Enter');
  const secret = await dialog().locator('[data-secret]').textContent();
  assert.match(secret, /^fmt_\w{38}$/);
  await assertAccessible(page, 'the token');
  await shoot(page, 'settings-token-light-1440');
  const status = () => fetch(`${server.url}/v1/whoami`, { headers: { Authorization: `Bearer ${secret}` } }).then((reply) => reply.status);
  assert.equal(await status(), 200);
  await press(page, 'Escape');
  await dialog().waitFor({ state: 'detached' });
  assert.equal(await page.getByText(secret).count(), 0);
  const row = page.getByRole('listitem').filter({ hasText: 'claude on build-1' });
  await row.getByText('in shop', { exact: true }).waitFor();
  await row.getByRole('button', { name: /Withdraw/ }).click();
  await dialog().getByRole('button', { name: 'Withdraw' }).click();
  await row.waitFor({ state: 'detached' });
  assert.equal(await status(), 401);
  assertCalm(page);
});

test('the rules for questions are checked in the form, and saved', async () => {
  await section('policy');
  const shortest = page.getByLabel('Shortest time');
  await shortest.fill('2d');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('The shortest time is above the longest.').waitFor();
  assert.ok(await shortest.evaluate((input) => input === document.activeElement));
  await shortest.fill('1m');
  await page.getByRole('switch', { name: 'Take the guess without asking' }).check();
  await page.getByLabel('Approvals', { exact: true }).fill('2h');
  await page.getByLabel('Approvals, of a stopped session').fill('3d');
  const reminders = page.getByLabel('Remind people after');
  await reminders.fill('1h, soon');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('Write up to ten different times').waitFor();
  await reminders.fill('');
  await reminders.pressSequentially('2h, 1d');
  await page.getByLabel('And then every').fill('2d');
  await page.getByLabel('Ended tasks').fill('1h');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('Write a time such as 90d').waitFor();
  await page.getByLabel('Ended tasks').fill('365d');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('The rules are saved.').first().waitFor();
  const policy = await server.call('GET', '/v1/policies');
  assert.equal(policy.min_timeout, '1m');
  assert.equal(policy.auto_confidence, 80);
  assert.deepEqual(policy.default_timeout, { approval: '2h' });
  assert.deepEqual(policy.resumed_timeout, { approval: '3d' });
  assert.deepEqual(policy.reminders, ['2h', '1d']);
  assert.equal(policy.remind_every, '2d');
  assert.equal(policy.keep_tasks, '365d');
  assertCalm(page);
});

test('what is typed while the rules are saved stays, and a list that is open stays open', async () => {
  await section('policy');
  const { held, release } = gate();
  const { held: sending, release: sends } = gate();
  await page.route('**/v1/policies', async (route) => {
    const reply = await route.fetch();
    sends();
    await held;
    await route.fulfill({ response: reply });
  });
  const undo = page.getByLabel('Seconds to undo');
  const shortest = page.getByLabel('Shortest time');
  await undo.fill('7');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await sending;
  await shortest.fill('2m');
  await page.getByRole('combobox', { name: 'To administer' }).click();
  release();
  await page.getByText('The rules are saved.').first().waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('option', { name: 'A token is enough' }).click();
  assert.equal(await shortest.inputValue(), '2m');
  assert.equal((await server.call('GET', '/v1/policies')).undo_seconds, 7);
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByRole('button', { name: 'Save the rules', disabled: true }).waitFor();
  assert.equal((await server.call('GET', '/v1/policies')).min_timeout, '2m');
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  assertCalm(page);
});

test('what a token administered needs a sign-in, once the rules say so', async () => {
  const choose = async (how, least) => {
    await page.getByRole('combobox', { name: 'To administer' }).click();
    await page.getByRole('option', { name: how }).click();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await until(async () => assert.equal((await server.call('GET', '/v1/policies')).admin_assurance, least));
  };
  await section('policy');
  await choose('Freshly signed in with a browser', 'session');
  await assert.rejects(server.call('POST', '/v1/members', { handle: 'eve' }), /yours is channel, and this requires session/);
  await choose('A token is enough', 'channel');
  await server.call('POST', '/v1/members', { handle: 'eve' });
  assertCalm(page);
});

test('a rule for tools is added and removed', async () => {
  await section('gates');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await dialog().getByRole('textbox', { name: 'Tool' }).fill('Bash');
  await dialog().getByRole('button', { name: 'Add an argument' }).click();
  await dialog().getByLabel('Fits').fill('git status*');
  await assertAccessible(page, 'the form of a rule');
  await shoot(page, 'settings-rule-form-light-1440');
  await press(page, 'Control+Enter');
  const row = page.getByRole('listitem').filter({ hasText: 'git status*' });
  await row.getByText('Allow', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Remove: Bash' }).click();
  await dialog().getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  assertCalm(page);
});

test('who is no admin reads, and is told who changes', async () => {
  const theirs = await open(browser, `${server.named}/sign-in`);
  await signIn(theirs, server, await linkFor(page, 'ada'));
  await visit(theirs, '/settings/people');
  await theirs.getByText('Only admins change this.').waitFor();
  assert.equal(await theirs.getByRole('button', { name: /Change|Invite|Disable/ }).count(), 0);
  await visit(theirs, '/settings/policy');
  assert.ok(await theirs.getByLabel('Shortest time').isDisabled());
  await theirs.context().close();
});

test('every part is sound at every width and in both themes', async () => {
  await server.call('POST', '/v1/gate-rules', { tool: 'Bash', args: { command: 'rm *' }, decision: 'deny', reason: 'keeps from accidents' });
  await server.call('POST', '/v1/gate-rules', { tool: 'mcp__db__*', decision: 'ask', risk: 'high' });
  await server.call('POST', '/v1/gate-rules', { tool: 'Bash', args: { command: 'make test' }, decision: 'allow', uses: 5, project: 'shop', expires_in: '8h' });
  await server.call('POST', '/v1/groups', { name: 'on call', description: 'Who is woken at night', members: ['ada', 'grace'] });
  for (const name of ['appearance', 'account', 'tokens', 'people', 'groups', 'policy', 'gates']) {
    await visit(page, `/settings/${name}`);
    await page.locator('section h2').first().waitFor();
    await assertAccessibleEverywhere(page, `settings-${name}`);
  }
  assertCalm(page);
});
