import { after, approval, assertCalm, before, item, launch, open, press, startServer, test, visit, yesNo } from './harness.mjs';
import { assertAccessibleEverywhere } from './accessibility.mjs';

let full, empty, browser, page;
const ids = {};
const options = [
  { value: 'sqlite', label: 'SQLite', recommended: true, description: 'One file, nothing to run' },
  { value: 'postgres', label: 'PostgreSQL' },
  { value: 'drop', label: 'Drop everything', danger: true, description: 'Cannot be undone' },
];
const diff = '--- a/prod.yaml\n+++ b/prod.yaml\n@@ -1,3 +1,3 @@\n-image: shop:2.4.0\n+image: shop:2.4.1\n replicas: 3';

before(async () => {
  [full, empty, browser] = await Promise.all([startServer(), startServer(), launch()]);
  const questions = {
    choice: { type: 'blocking', title: 'Which database shall the service use?', body: 'I found **two** candidates:\n\n- `sqlite`\n- `postgres`\n\n| a | b |\n|---|---|\n| 1 | 2 |', items: [item('choice', { options, other: true })], timeout: '30m' },
    multi: { type: 'blocking', title: 'Who shall review it?', items: [item('multi_choice', { options: ['ann', 'ben', 'eve'], max: 2 })] },
    text: { type: 'non_blocking', title: 'Name of the new module', items: [item('text', { default: 'billing' })] },
    number: { type: 'blocking', title: 'How many replicas?', items: [item('number', { min: 1, max: 9 })] },
    date: { type: 'blocking', title: 'When shall it go out?', items: [item('date')] },
    yes: yesNo('Shall I go on?'),
    error: { type: 'error_recovery', title: 'The build failed. What now?', context: { step: 'Build', error: 'Error: ENOSPC: no space left on device\n    at write (fs.js:1)' }, items: [item('choice', { options: ['retry', 'skip'], default: 'retry' })] },
    approval: approval('Deploy 2.4.1 to production', { tool: 'bash', command: 'kubectl apply -f prod.yaml \u202e && echo <done>', replicas: 1.5 }, { risk: 'medium', body: 'All tests pass.', context: { preview: { kind: 'diff', text: diff } } }),
    danger: approval('Delete 4,211 rows from customers', { tool: 'sql', statement: 'DELETE FROM customers' }, { risk: 'high', context: { preview: { kind: 'table', text: 'id\tname\n1\tAda\n2\tBob' } } }),
    several: { type: 'blocking', title: 'The release', items: [item('boolean', { key: 'a', header: 'Now?' }), item('text', { key: 'b', required: false }), item('choice', { key: 'c', options })] },
    answered: yesNo('Was it right?'),
    withdrawn: yesNo('Never mind'),
  };
  for (const [name, question] of Object.entries(questions)) ids[name] = (await full.ask(question)).id;
  await full.call('POST', `/v1/questions/${ids.answered}/answer`, { answer: true, comment: 'Yes, it was.' });
  await full.call('POST', `/v1/questions/${ids.withdrawn}/cancel`, { reason: 'not needed' });
  // The page is loaded in the dark scheme. After the turn to the light one, every page has been rendered in both.
  page = await open(browser, full.url, { scheme: 'dark' });
});
after(async () => {
  await browser?.close();
  await Promise.all([full.stop(), empty.stop()]);
});

test('the inbox is sound, with its filters, and with nothing in it', async () => {
  await page.locator('[data-row]').first().waitFor();
  await assertAccessibleEverywhere(page, 'inbox');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Project').waitFor();
  await assertAccessibleEverywhere(page, 'inbox-filters');
  assertCalm(page);
  const idle = await open(browser, empty.url);
  await idle.getByText('Nothing needs you.').waitFor();
  await assertAccessibleEverywhere(idle, 'inbox-empty');
  assertCalm(idle);
  await idle.context().close();
});

test('the page of every kind of question is sound', async () => {
  for (const [name, id] of Object.entries(ids)) {
    await visit(page, `/questions/${id}`);
    await assertAccessibleEverywhere(page, `question-${name}`);
  }
  await visit(page, '/questions/q_nothing');
  await page.getByText('There is no such question.').waitFor();
  await assertAccessibleEverywhere(page, 'question-dead');
  assertCalm(page);
});

test('the approvals are sound, and the sheet of keys over them', async () => {
  await visit(page, '/approvals');
  await page.locator('[data-row]').first().waitFor();
  await assertAccessibleEverywhere(page, 'approvals');
  await press(page, '?');
  await page.getByRole('dialog').waitFor();
  await assertAccessibleEverywhere(page, 'keys');
  assertCalm(page);
});
