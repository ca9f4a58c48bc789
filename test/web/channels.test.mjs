import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, launch, open, press, test, until, visit, yesNo } from './harness.mjs';
import { linkFor, signIn, startTeam } from './people.mjs';
import { startPushService } from './push_service.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

let server, service, browser, page;
before(async () => {
  service = await startPushService();
  server = await startTeam(['--allow-networks', '127.0.0.0/8']);
  browser = await launch();
  page = await open(browser, `${server.named}/sign-in`);
  await signIn(page, server, server.firstLink);
});
after(async () => {
  await browser?.close();
  service.stop();
  await server.stop();
});

const section = async (name) => {
  await visit(page, `/settings/${name}`);
  await page.locator('section h2').first().waitFor();
};
const dialog = () => page.getByRole('dialog');
const row = (list, name) => page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: name });
const here = (method, path, body) => page.evaluate(([how, where, what]) =>
  fetch(where, { method: how, headers: what ? { 'Content-Type': 'application/json' } : {}, body: what && JSON.stringify(what) }).then(async (reply) => ({ status: reply.status, body: await reply.json().catch(() => undefined) })), [method, path, body]);

test('a channel is added by a form of its own, tested with the remedy, changed, and removed', async () => {
  await section('channels');
  await row('Channels', 'push').getByText('Comes with the server').waitFor();
  assert.equal(await row('Channels', 'push').getByRole('button', { name: /Remove/ }).count(), 0);
  await press(page, 'n');
  await dialog().getByRole('button', { name: 'Add a channel: Slack' }).click();
  await dialog().getByRole('button', { name: 'Add a channel' }).click();
  await dialog().getByText('This is needed.').first().waitFor();
  await assertAccessibleEverywhere(page, 'settings-channel-form');
  await press(page, 'Escape');
  await dialog().waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Add a channel' }).click();
  await dialog().getByRole('button', { name: 'Add a channel: Webhook' }).click();
  await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Audit Log');
  await dialog().getByRole('button', { name: 'Add a channel' }).click();
  await dialog().getByText('Lower-case letters').waitFor();
  await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('audit-log');
  await fillWebhook();
  await press(page, 'Control+Enter');
  // The secret that the server generated is shown only this once.
  const secret = await dialog().locator('[data-secret]').first().textContent();
  assert.match(secret, /^whsec_/);
  await assertAccessible(page, 'the secret of a channel');
  await dialog().getByRole('button', { name: 'Done' }).click();
  await dialog().getByRole('button', { name: 'Test now' }).click();
  await dialog().getByText('It does not work yet.').waitFor();
  assert.ok((await dialog().getByRole('status').getByRole('listitem').first().textContent()).length > 10);
  await assertAccessibleEverywhere(page, 'settings-channel-test');
  await dialog().getByRole('button', { name: 'Close' }).last().click();
  // The error stays with the channel until the channel works.
  await row('Channels', 'audit-log').getByText(/was not reached/).waitFor();
  assert.equal(await page.getByText(secret).count(), 0);
  assert.equal(JSON.stringify((await here('GET', '/v1/channels/audit-log')).body).includes(secret), false);

  await row('Channels', 'audit-log').getByRole('button', { name: 'Change: audit-log' }).click();
  await dialog().getByText('Set. Leave it empty to keep it.').first().waitFor();
  await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('log');
  await press(page, 'Control+Enter');
  await row('Channels', 'log').getByRole('button', { name: 'Turn off: log' }).click();
  await row('Channels', 'log').getByText('Off', { exact: true }).waitFor();
  assert.equal((await here('GET', '/v1/channels/log')).body.enabled, false);
  await assertAccessibleEverywhere(page, 'settings-channels');
  await row('Channels', 'log').getByRole('button', { name: 'Remove: log' }).click();
  await dialog().getByRole('button', { name: 'Remove' }).click();
  await row('Channels', 'webhook').waitFor({ state: 'detached' });
  assert.equal((await here('GET', '/v1/channels/log')).status, 404);
  assertCalm(page);
});

/** Fills in the address of a webhook where nothing listens. */
async function fillWebhook() {
  const address = dialog().getByRole('textbox', { name: /address|url/i }).first();
  await address.fill('http://127.0.0.1:9/hook');
}

test('the routes are checked in the form, moved and saved', async () => {
  await section('routes');
  const blocking = page.getByRole('region', { name: 'Work stopped' });
  await blocking.getByRole('button', { name: 'Add a step: Work stopped' }).click();
  const last = blocking.getByRole('list').getByRole('listitem').last();
  await last.getByLabel('After').fill('soon');
  await page.getByRole('button', { name: 'Save the routes' }).click();
  await last.getByText('Write a number and a unit').waitFor();
  assert.ok(await last.getByLabel('After').evaluate((input) => input === document.activeElement));
  await last.getByLabel('After').fill('10s');
  await blocking.getByRole('button', { name: /^Step \d+ earlier$/ }).last().click();
  await page.getByRole('button', { name: 'Save the routes' }).click();
  await page.getByText('The routes are saved.').first().waitFor();
  const { body } = await here('GET', '/v1/routes');
  const place = body.blocking.findIndex((step) => step.after === '10s');
  assert.deepEqual([body.blocking[place], place], [{ after: '10s', channel: 'push', when: 'always' }, body.blocking.length - 2]);
  await assertAccessibleEverywhere(page, 'settings-routes');
  assertCalm(page);
});

test('a channel that is turned off says which routes it leaves, and a question of which nobody is notified', async () => {
  const before = (await here('GET', '/v1/routes')).body;
  assert.equal((await here('POST', '/v1/channels', { name: 'pager', kind: 'webhook', settings: { url: 'http://127.0.0.1:9/hook' } })).status, 201);
  assert.equal((await here('PUT', '/v1/routes', { ...before, blocking: [{ after: '10s', channel: 'pager', when: 'always' }] })).status, 200);
  await section('channels');
  await row('Channels', 'pager').getByRole('button', { name: 'Turn off: pager' }).click();
  const left = page.getByRole('status').filter({ hasText: 'These steps of routes lead nowhere now: Work stopped (step 1).' });
  await left.getByRole('link', { name: 'Change the routes' }).waitFor();
  await assertAccessibleEverywhere(page, 'settings-channels-left');
  const asked = (await here('POST', '/v1/questions', { question: 'Is anybody there?' })).body;
  assert.match(asked.unreached, /pager/);
  await visit(page, `/q/${asked.id}`);
  await page.getByText(/Nobody is notified of the question; it is only in the inbox: .*pager/).waitFor();
  await assertAccessibleEverywhere(page, 'question-unreached');
  assert.equal((await here('PUT', '/v1/routes', before)).status, 200);
  assert.equal((await here('DELETE', '/v1/channels/pager')).status, 200);
  assertCalm(page);
});

test('who somebody is elsewhere is entered with the person', async () => {
  await here('POST', '/v1/members', { handle: 'ada', role: 'responder' });
  await section('people');
  await row('People', 'ada').getByRole('button', { name: 'Known as: ada' }).click();
  await dialog().getByRole('combobox', { name: 'System' }).click();
  await page.getByRole('option', { name: 'Slack' }).click();
  await dialog().getByLabel('Id there').fill('U02ABC');
  await dialog().getByLabel('Name there').fill('Ada L');
  await press(page, 'Control+Enter');
  await row('Known as', 'Slack').getByText('Ada L (U02ABC)').waitFor();
  await assertAccessibleEverywhere(page, 'settings-identities');
  await press(page, 'Escape');
  await row('People', 'ada').getByText('Slack: Ada L').waitFor();
  assert.deepEqual((await here('GET', '/v1/identities')).body.items.map(({ kind, id, member }) => [kind, id, member]), [['slack', 'U02ABC', 'ada']]);
  await row('People', 'ada').getByRole('button', { name: 'Known as: ada' }).click();
  await row('Known as', 'Slack').getByRole('button', { name: 'Remove: Slack' }).click();
  await dialog().getByText('Known by the e-mail address alone').waitFor();
  await press(page, 'Escape');
  assertCalm(page);
});

test('the log of what was sent is filtered, and a message that failed is sent again', async () => {
  await here('POST', '/v1/me/devices', { subscription: service.subscription(), name: 'Phone' });
  await here('PUT', '/v1/routes', { blocking: [{ after: '0s', channel: 'push' }], approval: [{ after: '0s', channel: 'push' }], error_recovery: [], non_blocking: [], progress: [] });
  service.refusals.push(400);
  const refused = await server.ask(yesNo('Refused at first?'));
  await until(async () => assert.equal((await here('GET', `/v1/deliveries?question_id=${refused.id}&state=dead`)).body.items.length, 1));
  const taken = await server.ask(approval('Sent at once?', { tool: 'x', args: {} }));
  const came = (id) => until(() => assert.ok(service.messages.some(({ question }) => question === id)));
  await came(taken.id);
  await section('deliveries');
  const log = page.getByRole('list', { name: 'What was sent' });
  await until(async () => assert.equal(await log.getByText('Sent', { exact: true }).count(), 1));
  await log.getByText('Given up').waitFor();
  await assertAccessibleEverywhere(page, 'settings-deliveries');
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Given up' }).click();
  await page.waitForURL(/state=dead/);
  await log.getByText('Sent', { exact: true }).waitFor({ state: 'detached' });
  await log.locator('summary').first().click();
  await log.getByRole('button', { name: 'Send again' }).click();
  await came(refused.id);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await until(async () => assert.equal(await log.getByText('Sent', { exact: true }).count(), 2));
  assertCalm(page);
});

test('who is no admin has notifications of their own, and no channels', async () => {
  const theirs = await open(browser, `${server.named}/sign-in`);
  await signIn(theirs, server, await linkFor(page, 'ada'));
  await visit(theirs, '/settings/channels');
  await theirs.getByText('This part is for admins.').waitFor();
  await visit(theirs, '/settings/notifications');
  await theirs.getByRole('group', { name: 'Browser push' }).waitFor();
  const tested = await theirs.evaluate(() => fetch('/v1/me/notifications/test', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"channel":"push"}' }).then((reply) => reply.json()));
  assert.equal(tested.ok, false);
  assert.match(tested.problems[0].hint, /switches notifications on/);
  assertCalm(theirs);
  await theirs.context().close();
});
