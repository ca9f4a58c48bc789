// Writes the pictures of the README into a folder. It asks one question of a server of its own, and photographs the
// inbox. scripts/write-pictures runs it.
import { join } from 'node:path';
import { launch, newContext, open, schemes, settled, startServer } from './harness.mjs';

const [folder] = process.argv.slice(2);
const server = await startServer();
const browser = await launch();
try {
  const task = await server.call('POST', '/v1/tasks', { title: 'Upgrade the shop to 2.4.1', project: 'shop' });
  await server.call('POST', `/v1/tasks/${task.id}/questions`, {
    type: 'approval', title: 'Run the migration of the orders table on production?', risk: 'high', timeout: '2h',
    items: [{ key: 'go', prompt: 'May I run it now?', response_type: 'approval' }],
    body: 'The migration passed on staging in 40 seconds. It drops `orders.legacy_id`, so it cannot be undone without the backup of 02:00.',
    action: { tool: 'bash', command: 'psql "$SHOP_DB" -f migrations/0042_orders.sql' },
    context: { step: 'Migrate the database', preview: { kind: 'diff', text: [
      '--- a/migrations/0042_orders.sql', '+++ b/migrations/0042_orders.sql', '@@ -1,2 +1,3 @@', ' BEGIN;', '-ALTER TABLE orders RENAME COLUMN legacy_id TO old_id;',
      '+ALTER TABLE orders DROP COLUMN legacy_id;', '+CREATE INDEX orders_by_day ON orders (created_at);',
    ].join('\n') } },
  });
  for (const scheme of schemes) {
    const context = await newContext(browser, { viewport: { width: 1280, height: 800 }, colorScheme: scheme, locale: 'en-GB' });
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
