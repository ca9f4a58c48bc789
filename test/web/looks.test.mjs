// The looks that few choose, and the dialogs that open over a page: German,
// high contrast, the palette, the urgent question, approvals together.
import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, item, launch, open, startServer, test, yesNo } from './harness.mjs';
import { assertSoundInBoth } from './sound.mjs';

const narrowAndWide = [{ width: 360, scheme: 'light' }, { width: 1440, scheme: 'dark' }];
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
  await browser.close();
  await server.stop();
});

/** A context in which the reader chose something. */
async function looksLike(preferences, { width, scheme }) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: 'reduce' });
  await context.addInitScript((chosen) => localStorage.setItem('fermata.preferences', chosen), JSON.stringify(preferences));
  return context;
}
const settled = async (page) => {
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.waitForFunction(() => !document.querySelector('.mantine-Loader-root'));
};

const places = () => ({
  inbox: '/', choice: `/questions/${ids.choice}`, several: `/questions/${ids.several}`, error: `/questions/${ids.error}`, approval: `/questions/${ids.approval}`,
  answered: `/questions/${ids.answered}`, approvals: '/approvals', tasks: '/tasks', board: '/tasks?view=board', tree: '/tasks?view=tree', task: `/tasks/${ids.task}`, new: '/tasks/new',
  notifications: '/notifications', analytics: '/analytics', audit: '/audit',
  ...Object.fromEntries(['appearance', 'account', 'tokens', 'people', 'groups', 'policy', 'gates'].map((name) => [`settings-${name}`, `/settings/${name}`])),
});

for (const look of narrowAndWide) {
  const { width } = look;
  test(`every page in German and high contrast at ${width} pixels`, { timeout: 240_000 }, async () => {
    const context = await looksLike({ language: 'de', contrast: 'more' }, look);
    const page = await open(browser, server.url, { context });
    for (const [name, place] of Object.entries(places())) {
      await page.goto(server.url + place);
      await page.waitForSelector('h1');
      await settled(page);
      assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dataset.contrast]), ['de', 'more']);
      await assertSoundInBoth(page, `${name} in German at ${width}`, { picture: (scheme) => `de-${name}-${width}-${scheme}` });
    }
    assertCalm(page);
    await context.close();
  });

  test(`what opens over a page at ${width} pixels`, { timeout: 120_000 }, async () => {
    for (const [name, chosen] of Object.entries({ plain: {}, contrast: { contrast: 'more', language: 'de' } })) {
      const context = await looksLike(chosen, look);
      const page = await open(browser, `${server.url}/approvals`, { context });
      const sound = (what) => assertSoundInBoth(page, `${what}, ${name}, at ${width}`, { picture: (scheme) => `${what}-${name}-${width}-${scheme}` });
      await page.locator('[data-row]').first().waitFor();
      await settled(page);
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('textbox').waitFor();
      await page.keyboard.type('g');
      await sound('palette');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await sound('keys');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      await page.goto(`${server.url}/approvals?project=alike`);
      await page.locator('[data-row]').nth(1).waitFor();
      await settled(page);
      await page.keyboard.press('t');
      await page.getByRole('dialog').getByRole('checkbox').first().check();
      await sound('together');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      await page.goto(`${server.url}/settings/appearance`);
      await page.waitForSelector('main section h2');
      await settled(page);
      const { id } = await server.ask({ ...approval('Jetzt ausliefern?', { tool: 'bash', command: 'make deploy' }, { risk: 'medium', priority: 0 }), timeout: '30m' });
      await page.getByRole('dialog').getByText('make deploy', { exact: true }).waitFor();
      await settled(page);
      await sound('urgent');
      await server.call('POST', `/v1/questions/${id}/cancel`, { reason: 'a test' });
      assertCalm(page);
      await context.close();
    }
  });
}
