// Writes the pictures of the README into a folder. It asks one question of a server of its own, as an agent, and
// photographs the inbox. scripts/write-pictures runs it.
import { join } from 'node:path';
import { launch, newContext, open, schemes, settled, startServer } from './harness.mjs';

const [folder] = process.argv.slice(2);

/** The window is larger than the picture, so that the whole question fits: the picture has 1280 × 800 pixels. */
const view = { viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 0.8, locale: 'en-GB' };

async function askAsAgent(server) {
  const { secret } = await server.call('POST', '/v1/tokens', { name: 'deployer', kind: 'agent', scopes: ['ask', 'work', 'read'] });
  const headers = { Authorization: `Bearer ${secret}` };
  const task = await server.call('POST', '/v1/tasks', { title: 'Release 2.4', project: 'shop' }, headers);
  await server.call('POST', `/v1/tasks/${task.id}/questions`, {
    type: 'approval', title: 'Drop a column on production?', risk: 'high', timeout: 'never',
    items: [{ key: 'go', prompt: 'May I run it now?', response_type: 'approval' }],
    body: 'The migration passed on staging. Only the backup of 02:00 can undo it.',
    action: { command: 'psql "$SHOP_DB" -f migrations/0042_orders.sql' },
    context: { preview: { kind: 'diff', text: '-ALTER TABLE orders RENAME COLUMN legacy_id TO old_id;\n+ALTER TABLE orders DROP COLUMN legacy_id;' } },
  }, headers);
}

/** Shows the reader as Anna. The only person of the server has the name of the user who runs this script. */
const nameReader = (context) => context.route('**/v1/whoami', async (route) => {
  const response = await route.fetch();
  await route.fulfill({ response, json: { ...(await response.json()), name: 'anna' } });
});

const server = await startServer();
const browser = await launch();
try {
  await askAsAgent(server);
  for (const scheme of schemes) {
    const context = await newContext(browser, { ...view, colorScheme: scheme });
    await nameReader(context);
    const page = await open(browser, server.url, { context, wait: '[data-row]' });
    await page.locator('main form').first().waitFor();
    await settled(page);
    await page.screenshot({ path: join(folder, `inbox-${scheme}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
