import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, focused, item, launch, open, press, settled, startServer, test, until, yesNo } from './harness.mjs';

let server, browser;
before(async () => {
  server = await startServer();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const options = ['one', 'two', 'three'];

/** Returns a hundred questions as they come in a day, each with the keys that answer it and the answer. */
function mixedQuestions() {
  const kinds = [
    (n) => [approval(`Run the tests ${n}`, { tool: 'bash', command: `make test-${n}` }), ['a'], 'approve'],
    (n) => [approval(`Push to main ${n}`, { tool: 'git', args: ['push', `${n}`] }), ['r'], 'reject'],
    (n) => [yesNo(`Shall I go on? ${n}`), ['y'], true],
    (n) => [{ type: 'blocking', title: `Pick one ${n}`, items: [item('choice', { options })] }, ['2'], 'two'],
    (n) => [approval(`Write a file ${n}`, { tool: 'write', path: `${n}.txt` }), ['a'], 'approve'],
    (n) => [{ type: 'error_recovery', title: `It failed ${n}`, items: [item('choice', { options: ['retry', 'skip'], default: 'retry' })] }, ['Enter'], 'retry'],
    (n) => [{ type: 'non_blocking', title: `Name it ${n}`, items: [item('text', { default: `module-${n}` })] }, ['Enter'], `module-${n}`],
    (n) => [yesNo(`Is it ready? ${n}`), ['n'], false],
    (n) => [{ type: 'blocking', title: `How many? ${n}`, items: [item('number', { default: n })] }, ['Enter'], n],
    (n) => n === 9
      ? [{ type: 'blocking', title: 'Two things', items: [item('boolean', { key: 'a' }), item('choice', { key: 'b', options })] }, ['y', '3', 'Enter'], undefined]
      : [{ type: 'blocking', title: `Pick some ${n}`, items: [item('multi_choice', { options })] }, ['1', '3', 'Enter'], ['one', 'three']],
  ];
  return Array.from({ length: 100 }, (_, n) => kinds[n % kinds.length](n));
}

test('100 mixed questions are cleared by keyboard alone, with at most 1.3 keys a decision', async () => {
  const plan = new Map();
  for (const [question, keys, want] of mixedQuestions()) {
    const { id } = await server.ask(question);
    plan.set(id, { keys, want, title: question.title });
  }
  const page = await open(browser, server.url);
  let pressed = 0;
  let mice = 0;
  await page.exposeFunction('mouseSeen', () => mice++);
  await page.evaluate(() => addEventListener('pointerdown', () => window.mouseSeen(), true));
  await settled(page);
  for (let left = plan.size; left > 0; left--) {
    // Only the screen says which question comes next. The test does not know the order.
    const id = await until(async () => {
      const on = await page.locator('[data-row][aria-current]').getAttribute('data-row');
      assert.ok(plan.has(on) && !plan.get(on).done, `${on} is decided already`);
      assert.equal(await page.locator('section h2').first().textContent(), plan.get(on).title);
      return on;
    });
    for (const key of plan.get(id).keys) {
      await page.keyboard.press(key);
      pressed++;
    }
    plan.get(id).done = true;
  }
  await page.getByText('Nothing needs you.').waitFor();
  for (const [id, { want }] of plan) {
    const { resolution } = await server.closed(id);
    assert.equal(resolution?.decided_by, 'human');
    assert.deepEqual(resolution.answer ?? undefined, want);
  }
  console.log(`# ${pressed} keys for ${plan.size} decisions: ${pressed / plan.size} a decision`);
  assert.ok(pressed / plan.size <= 1.3);
  assert.equal(mice, 0);
  assertCalm(page);
  await page.context().close();
});

test('the sheet behind ? lists the keys that act, and letters that are typed do nothing', async () => {
  const { id } = await server.ask({ type: 'blocking', title: 'What is your name?', items: [item('text')] });
  const page = await open(browser, server.url);
  await page.getByRole('textbox', { name: 'What shall it be?' }).waitFor();
  await press(page, '?');
  const sheet = page.getByRole('dialog', { name: 'Keys' });
  await sheet.getByText('Next question', { exact: true }).waitFor();
  await press(page, 'j');
  await press(page, 'Escape');
  await sheet.waitFor({ state: 'detached' });
  const field = page.getByRole('textbox', { name: 'What shall it be?' });
  await press(page, 'Enter');
  await focused(field);
  await page.keyboard.type('jane ? k g i');
  assert.equal(await field.inputValue(), 'jane ? k g i');
  await page.keyboard.press('Control+Enter');
  assert.equal((await server.closed(id)).resolution.answer, 'jane ? k g i');
  await press(page, 'g', 'a');
  await page.getByRole('heading', { name: 'Approvals' }).waitFor();
  const palette = page.getByPlaceholder('Type a command');
  await press(page, 'Control+k');
  await focused(palette);
  await page.keyboard.type('Approvals');
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await settled(page);
  const atOnce = page.evaluate(() => new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      const field = document.querySelector('input[placeholder^="Type a command"]');
      if (!field) return;
      observer.disconnect();
      resolve(document.activeElement === field);
    }).observe(document.body, { childList: true, subtree: true });
  }));
  await page.keyboard.press('Control+k');
  assert.ok(await atOnce, 'the palette takes letters as soon as it is there');
  assert.equal(await palette.inputValue(), '');
  await page.keyboard.type('Go to: Inbox');
  await page.getByRole('option', { name: 'Go to: Inbox' }).or(page.locator('[data-selected]', { hasText: 'Go to: Inbox' })).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  assertCalm(page);
});
