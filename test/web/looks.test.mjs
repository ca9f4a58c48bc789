// The looks that few people choose, and the dialogs that open over a page:
// German, high contrast, the palette, the urgent question, approvals together.
import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, focused, item, launch, newContext, open, press, settled, startServer, test, visit, yesNo } from './harness.mjs';
import { assertAccessibleEverywhere } from './accessibility.mjs';

/**
 * These looks change how long words are and which colors they have. The widest
 * and the narrowest window are enough to show it.
 */
const wideAndNarrow = [1440, 360];
let server, browser;
const ids = {};
before(async () => {
  [server, browser] = await Promise.all([startServer(), launch()]);
  const ask = async (name, question) => {
    ids[name] = (await server.ask(question)).id;
  };
  const options = [{ value: 'a', label: 'A', recommended: true }, { value: 'b', label: 'B', danger: true }];
  await ask('choice', { type: 'blocking', title: 'Welche Datenbank?', body: 'Zwei kommen **in Frage**.', items: [item('choice', { options, other: true })], timeout: '30m' });
  await ask('several', { type: 'blocking', title: 'Die Version', items: [item('boolean', { key: 'a', header: 'Jetzt?' }), item('multi_choice', { key: 'b', options: ['x', 'y'] }), item('number', { key: 'c' })] });
  await ask('error', { type: 'error_recovery', title: 'Der Bau schlug fehl', context: { step: 'Bau', error: 'ENOSPC' }, items: [item('choice', { options: ['retry', 'skip'], default: 'retry' })] });
  await ask('approval', approval('Zeilen löschen', { tool: 'sql', statement: 'DELETE \u202e FROM kunden' }, { risk: 'high', context: { preview: { kind: 'diff', text: '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y' } } }));
  await ask('answered', yesNo('War es recht?'));
  await server.call('POST', `/v1/questions/${ids.answered}/answer`, { answer: true, comment: 'Ja.' });
  for (const n of [1, 2]) await ask(`alike${n}`, approval(`Tests laufen lassen ${n}`, { tool: 'bash', command: `make test-${n}` }, { project: 'alike' }));
  ids.task = (await server.question(ids.choice)).task_id;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens a page whose reader has chosen preferences. */
async function lookingLike(preferences, path, scheme) {
  const context = await newContext(browser, { viewport: { width: 1440, height: 900 }, colorScheme: scheme });
  await context.addInitScript((chosen) => localStorage.setItem('fermata.preferences', chosen), JSON.stringify(preferences));
  return open(browser, server.url + path, { context });
}

const places = () => ({
  inbox: '/', choice: `/questions/${ids.choice}`, several: `/questions/${ids.several}`, error: `/questions/${ids.error}`, approval: `/questions/${ids.approval}`,
  answered: `/questions/${ids.answered}`, approvals: '/approvals', tasks: '/tasks', board: '/tasks?view=board', tree: '/tasks?view=tree', task: `/tasks/${ids.task}`, new: '/tasks/new',
  notifications: '/notifications', analytics: '/analytics', audit: '/audit',
  ...Object.fromEntries(['appearance', 'account', 'tokens', 'people', 'groups', 'policy', 'gates'].map((name) => [`settings-${name}`, `/settings/${name}`])),
});

test('every page is sound in German and high contrast', async () => {
  const page = await lookingLike({ language: 'de', contrast: 'more' }, '/', 'light');
  for (const [name, place] of Object.entries(places())) {
    await visit(page, place);
    assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dataset.contrast]), ['de', 'more']);
    await assertAccessibleEverywhere(page, `de-${name}`, { over: wideAndNarrow });
  }
  assertCalm(page);
  await page.context().close();
});

for (const [name, chosen] of Object.entries({ plain: {}, contrast: { contrast: 'more', language: 'de' } })) {
  test(`what opens over a page is sound, ${name}`, async () => {
    const page = await lookingLike(chosen, '/approvals', 'dark');
    const dialog = page.getByRole('dialog');
    const assertLooks = (what) => assertAccessibleEverywhere(page, `${what}-${name}`, { over: wideAndNarrow });
    const close = async () => {
      await press(page, 'Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.setViewportSize({ width: 1440, height: 900 });
    };
    await page.locator('[data-row]').first().waitFor();
    await settled(page);
    await press(page, 'Control+k');
    await focused(dialog.getByRole('textbox'));
    await page.keyboard.type('g');
    await assertLooks('palette');
    await close();
    await press(page, '?');
    await dialog.waitFor();
    await assertLooks('keys');
    await close();

    await visit(page, '/approvals?project=alike');
    await page.locator('[data-row]').nth(1).waitFor();
    await press(page, 't');
    await page.locator('section').getByRole('checkbox').first().waitFor();
    await assertLooks('together');
    await press(page, 'Escape');
    await page.setViewportSize({ width: 1440, height: 900 });

    await visit(page, '/settings/appearance');
    const { id } = await server.ask({ ...approval('Jetzt ausliefern?', { tool: 'bash', command: 'make deploy' }, { risk: 'medium', priority: 0 }), timeout: '30m' });
    await dialog.getByText('make deploy', { exact: true }).waitFor();
    await assertLooks('urgent');
    await server.call('POST', `/v1/questions/${id}/cancel`, { reason: 'a test' });
    assertCalm(page);
    await page.context().close();
  });
}
