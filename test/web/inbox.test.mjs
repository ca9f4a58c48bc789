import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, item, launch, newContext, open, press, settled, startServer, test, until, visit, yesNo } from './harness.mjs';
import { assertAccessibleEverywhere } from './accessibility.mjs';

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

test('alike questions are one row, decided and taken back together; what is dangerous is decided by itself', async () => {
  const many = await startServer({ undo: 60 });
  const run = (title, n, more) => many.ask(approval(title, { tool: 'bash', command: `make test-${n}` }, more)).then(({ id }) => id);
  const ids = [];
  for (let n = 0; n < 7; n++) ids.push(await run('May I run this?', n, { risk: 'low' }));
  const risky = await run('May I run this?', 99, { risk: 'high' });
  const page = await open(browser, many.url);
  const row = page.locator('[data-row]', { hasText: 'May I run this? ×7' });
  await row.waitFor();
  assert.equal(await page.locator('[data-row]').count(), 2);
  await row.click();
  const lot = page.getByRole('region', { name: '7 questions' });
  for (const n of [0, 6]) await lot.getByText(`make test-${n}`, { exact: true }).waitFor();
  await assertAccessibleEverywhere(page, 'alike', { over: [1440] });
  await press(page, 'a');
  assert.equal((await many.question(ids[0])).held, undefined);
  // Nothing runs before the last action was on the screen.
  const yes = page.getByRole('button', { name: 'Yes, approve 7' });
  await page.getByText('Read to the end').waitFor();
  await press(page, 'Enter');
  assert.equal(await yes.isDisabled(), true);
  await until(async () => {
    await press(page, 'PageDown');
    assert.equal(await yes.isDisabled(), false);
  });
  await press(page, 'Enter');
  await page.getByText('Approve · 7 questions').waitFor();
  await page.getByRole('heading', { name: 'May I run this?' }).waitFor();
  for (const id of ids) assert.ok((await many.question(id)).held);
  await press(page, 'z');
  await page.getByText('Taken back. 7 questions are open again.').waitFor();
  for (const id of ids) assert.equal((await many.question(id)).held, undefined);
  await page.getByRole('button', { name: 'Show them singly' }).click();
  await until(async () => assert.equal(await page.locator('[data-row]').count(), 8));

  // Chosen one by one, by keys and by the pointer.
  await page.locator('[data-row]', { hasText: 'May I run this?' }).nth(1).click();
  await press(page, 'x', 'Shift+J');
  await page.getByRole('region', { name: '2 questions' }).waitFor();
  await page.getByRole('checkbox', { name: 'Choose May I run this?' }).nth(5).click({ modifiers: ['Shift'] });
  await page.getByRole('region', { name: '5 questions' }).waitFor();
  await page.getByRole('checkbox', { name: 'Choose May I run this?' }).nth(0).check();
  await page.getByText('1 is decided by itself').waitFor();
  await press(page, 'h');
  await page.getByRole('button', { name: /In 15 minutes/ }).click();
  await until(async () => assert.equal(await page.locator('[data-row]').count(), 2));
  const snoozed = async () => (await Promise.all([...ids, risky].map((id) => many.question(id)))).filter((question) => question.snoozed_until).length;
  assert.equal(await snoozed(), 6);
  assertCalm(page);
  await page.context().close();
  await many.stop();
});

test('many are chosen, assigned and answered on a phone', async () => {
  const many = await startServer({ undo: 60 });
  const ids = [];
  for (const title of ['Paint it red?', 'Paint it blue?', 'Paint it green?']) ids.push((await many.ask(yesNo(title))).id);
  const context = await newContext(browser, { viewport: { width: 390, height: 844 }, hasTouch: true });
  const page = await open(browser, many.url, { context, wait: '[data-row]' });
  for (const title of ['Paint it red?', 'Paint it green?']) await page.getByRole('checkbox', { name: `Choose ${title}` }).check();
  await page.getByText('2 chosen').waitFor();
  await page.getByRole('button', { name: 'Decide' }).click();
  const dialog = page.getByRole('dialog', { name: 'Chosen questions' });
  await dialog.getByRole('button', { name: 'Assign' }).click();
  await page.getByRole('textbox', { name: 'Others' }).fill('role:admin');
  await page.getByRole('dialog', { name: 'Assign' }).getByRole('button', { name: 'Assign' }).click();
  await until(async () => assert.deepEqual((await many.question(ids[2])).assignees, ['role:admin']));
  for (const title of ['Paint it red?', 'Paint it green?']) await page.getByRole('checkbox', { name: `Choose ${title}` }).check();
  await page.getByRole('button', { name: 'Decide' }).click();
  await assertAccessibleEverywhere(page, 'lot', { over: [390] });
  await dialog.getByRole('button', { name: 'Yes 2' }).click();
  // What somebody else has decided meanwhile is not answered, and says so.
  await many.call('POST', `/v1/questions/${ids[0]}/cancel`, {});
  await dialog.getByText('Withdrawn').waitFor();
  await dialog.getByRole('button', { name: 'Yes, yes 1' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok((await many.question(ids[2])).held);
  assert.equal((await many.question(ids[1])).held, undefined);
  assertCalm(page);
  await context.close();
  await many.stop();
});
