import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, assertCalm, before, focused, launch, open, press, shoot, test, until, visit } from './harness.mjs';
import { signIn, someHistory, startTeam } from './people.mjs';
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

const figure = async (name) => page.getByRole('region', { name }).first().textContent();

test('every figure has its n, and the table behind a chart says the same', async () => {
  await visit(page, '/analytics');
  await page.getByRole('heading', { name: 'Questions over time' }).waitFor();
  assert.match(await figure('Half are answered within'), /n = 8/);
  assert.match(await figure('Timed out'), /0%n = 8/);
  await page.getByRole('button', { name: 'Show the table: Questions over time' }).click();
  const table = page.getByRole('region', { name: 'Table: Questions over time' });
  await table.waitFor();
  await until(async () => assert.match(await table.textContent(), /n = 8/));
  const common = page.getByRole('region', { name: 'Table: Most common questions' });
  await until(async () => assert.match(await common.textContent(), /Deploy build/));
  await until(async () => assert.match(await common.textContent(), /Which database\?/));
  assertCalm(page);
});

test('what is looked at stands in the address, and the file has it, too', async () => {
  await visit(page, '/analytics?type=approval');
  await page.getByText('Nothing was asked in this period.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByRole('heading', { name: 'Questions over time' }).waitFor();
  await press(page, '2');
  await page.waitForURL(/range=7d/);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as CSV: Most common questions' }).click();
  const file = await text(await (await download).createReadStream());
  assert.match(file, /^title,/);
  assert.match(file, /Which database\?/);
  assertCalm(page);
});

test('the chain is searched, verified and exported', async () => {
  await visit(page, '/audit');
  await page.getByText('Question: answered').first().waitFor();
  await press(page, '/');
  await focused(page.locator('#audit-search'));
  await page.keyboard.type('grace');
  await page.waitForURL(/q=grace/);
  await until(async () => assert.ok((await page.getByText(/by /).count()) > 0 && (await page.getByText('by ada').count()) === 0));
  await page.locator('details summary').first().click();
  await page.getByText('Hash of the event before').waitFor();
  await assertAccessible(page, 'the details of an event');
  await shoot(page, 'audit-details-light-1440');
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText(/The chain is whole: \d+ events verified/).waitFor();
  await shoot(page, 'audit-verified-light-1440');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export' }).click();
  const lines = (await text(await (await download).createReadStream())).trim().split('\n');
  assert.equal(JSON.parse(lines[0]).seq, 1);
  assertCalm(page);
});

test('analytics and audit are sound at every width and in both themes', async () => {
  for (const [name, words] of [['analytics', 'Most common questions'], ['audit', 'Question: answered']]) {
    await visit(page, `/${name}`);
    await page.getByText(words).first().waitFor();
    await assertAccessibleEverywhere(page, name);
  }
  assertCalm(page);
});
