import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, item, launch, open, press, settled, startServer, test, until, visit, yesNo } from './harness.mjs';

let server, browser, agent;
before(async () => {
  server = await startServer();
  browser = await launch();
  const { secret } = await server.call('POST', '/v1/tokens', { name: 'deployer', kind: 'agent', scopes: ['ask', 'work'] });
  agent = { Authorization: `Bearer ${secret}` };
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Asks on a task of an agent, and returns the id of the question. */
async function ask(question, task = {}) {
  const { id } = await server.call('POST', '/v1/tasks', { title: 'Release 2.4', project: 'shop', ...task }, agent);
  return (await server.call('POST', `/v1/tasks/${id}/questions`, question, agent)).id;
}

/** Returns the headings of the list and the titles below each, from top to bottom. */
const shown = (page) => page.locator('[data-scroller]').evaluate((list) => [...list.children].map((part) => [
  part.querySelector('h2')?.textContent ?? '', ...[...part.querySelectorAll('[data-row]')].map((row) => row.firstElementChild.nextElementSibling.innerText),
]));

const heightOf = (page) => page.locator('[data-row]').first().evaluate((row) => row.getBoundingClientRect().height);

test('the order of the inbox explains itself, and another one is remembered', async () => {
  await ask({ type: 'blocking', title: 'Which format?', items: [item('text')] }, { agent: 'writer', project: 'docs', priority: 4 });
  await ask({ ...approval('Drop a column?', { command: 'psql shop <<E\ndrop\nE' }, { risk: 'critical' }), timeout: 'never' });
  const soon = await ask({ ...approval('Restart the cache?', { command: 'systemctl restart redis' }), timeout: '10m', on_timeout: 'fail' });
  await ask({ ...approval('Push to main?', { command: 'git push' }, { risk: 'high' }), timeout: '2h', on_timeout: 'fail' });
  const page = await open(browser, server.url);
  await page.locator('[data-row]').nth(3).waitFor();
  assert.deepEqual(await shown(page), [
    ['Due within 15 minutes 1', 'Restart the cache?'], ['High and critical risk 2', 'Drop a column?', 'Push to main?'], ['Everything else 1', 'Which format?'],
  ]);
  const row = page.locator('[data-row]', { hasText: 'Which format?' });
  for (const fact of ['writer', 'Release 2.4', 'docs', 'P4']) await row.getByText(fact).first().waitFor();
  await page.locator('[data-row]', { hasText: 'Drop a column?' }).getByText('psql shop <<E', { exact: true }).waitFor();
  assert.equal(await heightOf(page), 48);

  // An answered question stays in its section and does not count there any more.
  await page.getByRole('heading', { name: 'Restart the cache?' }).waitFor();
  await press(page, 'a');
  await server.closed(soon);
  await until(async () => assert.deepEqual((await shown(page))[0], ['Due within 15 minutes 0', 'Restart the cache?']));

  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Order' }).selectOption('By project');
  const headings = async () => (await shown(page)).map(([heading]) => heading);
  await until(async () => assert.deepEqual(await headings(), ['docs 1', 'shop 2']));
  await visit(page, '/settings/appearance');
  await page.getByRole('radiogroup', { name: 'Lists' }).getByText('Dense').click();
  await page.goto(server.url);
  await page.locator('[data-row]').nth(2).waitFor();
  assert.deepEqual(await headings(), ['docs 1', 'shop 2']);
  assert.equal(await heightOf(page), 36);
  assertCalm(page);
  await page.context().close();
});

test('a list without anything that presses has no heading', async () => {
  const calm = await startServer();
  await calm.ask(yesNo('Paint it?'));
  const page = await open(browser, calm.url);
  await page.locator('[data-row]').waitFor();
  await settled(page);
  assert.equal(await page.locator('[data-scroller] h2').count(), 0);
  assertCalm(page);
  await page.context().close();
  await calm.stop();
});
