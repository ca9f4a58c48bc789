import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, chooseTyped, launchFull, open, shoot, test, until } from './harness.mjs';
import { signIn, startTeam } from './people.mjs';
import { startPushService, subscribing } from './push_service.mjs';
import { assertAccessibleEverywhere } from './accessibility.mjs';
import { workerOf } from './worker.mjs';

let server, service, browser, page, worker, subscription;
before(async () => {
  service = await startPushService();
  server = await startTeam(['--allow-networks', '127.0.0.0/8']);
  browser = await launchFull();
  page = await open(browser, `${server.named}/sign-in`, { serviceWorkers: 'allow' });
  await page.context().grantPermissions(['notifications'], { origin: server.named });
  subscription = service.subscription();
  await page.context().addInitScript(...subscribing(subscription));
  await signIn(page, server, server.firstLink);
  worker = await workerOf(page);
  service.deliver = (message) => worker.push(message);
  await server.call('PUT', '/v1/policies', { ...(await server.call('GET', '/v1/policies')), least_risk: { approval: 'low' } });
  await server.call('PUT', '/v1/routes', { blocking: [{ after: '0s', channel: 'push' }], approval: [{ after: '0s', channel: 'push' }], error_recovery: [], non_blocking: [], progress: [] });
});
after(async () => {
  await browser?.close();
  service.stop();
  await server.stop();
});

const onlyOne = async (tag) => {
  const shown = await worker.shown();
  const found = shown.filter((each) => each.tag === tag);
  if (found.length !== 1) assert.fail(JSON.stringify({ tag, shown, pushed: service.messages, failures: service.failures, sent: await server.call('GET', '/v1/deliveries') }, null, 1));
  return found[0];
};
const devicesOf = (on) => on.evaluate(() => fetch('/v1/me/devices').then((reply) => reply.json())).then(({ items }) => items);
const devices = () => page.getByRole('list', { name: 'My devices' }).getByRole('listitem');

test('a device is switched on by a press, and tested', async () => {
  await page.goto(`${server.named}/settings/notifications`);
  await page.getByText('No device yet.').waitFor();
  await shoot(page, 'settings-notifications-none-light-1440');
  await page.getByRole('button', { name: 'Notify me on this device' }).click();
  await page.getByText('This device gets your questions now.').waitFor();
  await devices().getByText('This device').waitFor();
  await page.getByRole('button', { name: 'Send me a test' }).click();
  await page.getByText('The test is on its way to your devices.').waitFor();
  const shown = await until(() => onlyOne('fermata-test'));
  assert.match(shown.title, /reaches you/);
  await worker.press('fermata-test');
  assertCalm(page);
});

test('a question reaches the closed page, is answered there, and says how it ended', async () => {
  await page.goto('about:blank');
  const question = await server.ask(approval('Clear the cache?', { tool: 'cache', args: { clear: true } }, { risk: 'low', project: 'shop', timeout: '15m' }));
  const tag = `fermata-${question.id}`;
  const shown = await until(() => onlyOne(tag));
  assert.equal(shown.title, 'Clear the cache?');
  assert.match(shown.body, /^\{"tool":"cache","args":\{"clear":true\}\}\nNeeds approval · shop · until /);
  assert.deepEqual(shown.actions, ['Approve', 'Reject']);
  assert.deepEqual(await worker.press(tag, 'Approve'), []);
  const { resolution } = await server.closed(question.id);
  assert.deepEqual([resolution.answer, resolution.channel, resolution.assurance], ['approve', 'push', 'session']);
  const ended = await until(async () => {
    const found = await onlyOne(tag);
    assert.equal(found.actions.length, 0);
    assert.ok(!found.body.startsWith('Your answer'));
    return found;
  });
  assert.match(ended.body, /approve|answered/i);
  assert.equal(ended.silent, true);
  await worker.press(tag);
});

test('a button answers for nobody but the person for whom the notification was', async () => {
  await server.call('POST', '/v1/members', { handle: 'grace', role: 'responder' });
  await page.goto('about:blank');
  const question = await server.ask(approval('Clear it for me?', { tool: 'cache', args: { clear: true } }, { risk: 'low', timeout: '15m' }));
  const tag = `fermata-${question.id}`;
  assert.deepEqual((await until(() => onlyOne(tag))).actions, ['Approve', 'Reject']);
  const mine = await page.context().cookies();
  const other = await browser.newContext();
  const { url } = await server.call('POST', '/v1/members/grace/links', {});
  const signedIn = await other.request.post(`${server.named}/v1/sign-in/link`, { data: { token: new URL(url).hash.slice(1) }, headers: { Origin: server.named } });
  assert.ok(signedIn.ok());
  await page.context().clearCookies();
  await page.context().addCookies(await other.cookies());
  assert.deepEqual(await worker.press(tag, 'Approve'), [`${server.named}/questions/${question.id}`]);
  assert.equal((await server.call('GET', `/v1/questions/${question.id}`)).status, 'pending');
  await page.context().clearCookies();
  await page.context().addCookies(mine);
  await other.close();
  await server.call('POST', `/v1/questions/${question.id}/cancel`, {});
});

test('what is risky has no button, and the page says where it was sent', async () => {
  const question = await server.ask(approval('Drop the table?', { tool: 'sql', args: { query: 'drop table x' } }, { risk: 'high' }));
  const tag = `fermata-${question.id}`;
  const shown = await until(() => onlyOne(tag));
  assert.deepEqual([shown.actions, /drop table/.test(shown.body)], [[], false]);
  assert.deepEqual(await worker.press(tag), [`${server.named}/questions/${question.id}`]);
  await page.goto(`${server.named}/questions/${question.id}`);
  const sent = page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
  await sent.getByText('Browser push').waitFor();
  await sent.getByText('Sent', { exact: true }).waitFor();
  await sent.locator('summary').click();
  await page.getByRole('region', { name: 'What was sent' }).getByText('Drop the table?').waitFor();
  // The message is sent at least once, so the test checks only that one more comes.
  const came = () => service.messages.filter((message) => message.question === question.id).length;
  const before = came();
  await sent.getByRole('button', { name: 'Send again' }).click();
  await until(() => assert.ok(came() > before));
  await assertAccessibleEverywhere(page, 'question-sent-to', { arrange: () => sent.first().scrollIntoViewIfNeeded() });
  assertCalm(page);
});

test('quiet hours, what is wanted where, and the zone are kept', async () => {
  await page.goto(`${server.named}/settings/notifications`);
  await page.getByRole('switch', { name: 'I have quiet hours' }).check();
  await page.getByLabel('From').fill('22:00');
  await page.getByLabel('To', { exact: true }).fill('22:00');
  await page.getByRole('group', { name: 'Browser push' }).getByRole('checkbox', { name: 'Work goes on' }).uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The hours would never end').waitFor();
  await page.getByLabel('To', { exact: true }).fill('06:30');
  await page.getByText('Sat', { exact: true }).click();
  await page.getByRole('combobox', { name: 'Questions whose deadline is within the quiet hours' }).click();
  await page.getByRole('option', { name: 'all of them reach me' }).click();
  await chooseTyped(page.getByRole('combobox', { name: 'Time zone' }), 'Berlin', 'Europe/Berlin');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  const kept = await page.evaluate(() => fetch('/v1/me/notifications').then((reply) => reply.json()));
  assert.deepEqual(kept.quiet, { from: '22:00', to: '06:30', days: ['sat'], urgent: true, deadlines: 'all' });
  assert.equal(kept.zone, 'Europe/Berlin');
  assert.deepEqual(kept.channels, { push: { non_blocking: false } });
  await assertAccessibleEverywhere(page, 'settings-notifications');
  assertCalm(page);
});

for (const [how, handedOver] of [['with the new one at hand', true], ['without a new one', false]]) {
  test(`a subscription that the browser replaces ${how} is the device's from then on`, async () => {
    await page.goto(`${server.named}/settings/notifications`);
    await devices().getByText('This device').waitFor();
    const [{ id: before }, ...others] = await devicesOf(page);
    assert.deepEqual(others, []);
    await page.goto('about:blank');
    const old = subscription;
    subscription = service.subscription();
    assert.equal(await worker.renewed(subscription, handedOver), null);
    service.forget(old);
    await page.goto(`${server.named}/settings/notifications`);
    const [{ id: now }, ...more] = await devicesOf(page);
    assert.deepEqual([now === before, more], [false, []]);
    await devices().getByText('This device').waitFor();
    await page.goto('about:blank');
    const question = await server.ask(approval('Still there?', { tool: 'wave' }, { risk: 'low' }));
    await until(() => onlyOne(`fermata-${question.id}`));
    assertCalm(page);
  });
}

test('a subscription that ended is forgotten; the device is switched on again, and off', async () => {
  await page.goto(`${server.named}/settings/notifications`);
  await devices().first().waitFor();
  service.forget(subscription);
  await page.getByRole('button', { name: 'Send me a test' }).click();
  await page.getByText('No device yet.').waitFor();
  await page.getByRole('button', { name: 'Notify me on this device' }).click();
  await devices().getByText('This device').waitFor();
  await page.getByRole('button', { name: 'Stop on this device' }).click();
  await page.getByText('No device yet.').waitFor();
  await page.getByRole('button', { name: 'Notify me on this device' }).waitFor();
  assert.equal(await page.evaluate(async () => (await (await navigator.serviceWorker.ready).pushManager.getSubscription()) === null), true);
  assertCalm(page);
});

test('who signs out gets no more messages there', async () => {
  await page.getByRole('button', { name: 'Notify me on this device' }).click();
  await devices().getByText('This device').waitFor();
  await page.goto(`${server.named}/settings/account`);
  await page.getByRole('button', { name: /^Sign out of this browser/ }).click();
  await page.waitForURL(/sign-in/);
  assert.deepEqual(await page.evaluate(async () => [await caches.has('fermata-device'), (await (await navigator.serviceWorker.ready).pushManager.getSubscription()) === null]), [false, true]);
  assertCalm(page);
});
