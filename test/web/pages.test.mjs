import { after, approval, assertCalm, before, item, launch, open, startServer, test, yesNo } from './harness.mjs';
import { assertSoundInBoth, everyWidth } from './sound.mjs';

let full, empty, browser;
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
});
after(async () => {
  await browser.close();
  await Promise.all([full.stop(), empty.stop()]);
});

for (const { width, scheme } of everyWidth()) {
  test(`every page at ${width} pixels`, async () => {
    const page = await open(browser, full.url, { width, scheme, height: width < 500 ? 780 : 900 });
    const look = async (name) => {
      await page.waitForFunction(() => !document.querySelector('.mantine-Loader-root'));
      await assertSoundInBoth(page, `${name} at ${width}`, { picture: (each) => `${name}-${width}-${each}` });
    };
    await page.locator('[data-row]').first().waitFor();
    await look('inbox');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Project').waitFor();
    await look('inbox-filters');
    for (const name of Object.keys(ids)) {
      await page.goto(`${full.url}/questions/${ids[name]}`);
      await page.waitForSelector('h1');
      await look(`question-${name}`);
    }
    await page.goto(`${full.url}/questions/q_nothing`);
    await page.getByText('There is no such question.').waitFor();
    await look('question-dead');
    await page.goto(`${full.url}/approvals`);
    await page.locator('[data-row]').first().waitFor();
    await look('approvals');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await look('keys');
    await page.goto(empty.url);
    await page.getByText('Nothing needs you.').waitFor();
    await look('inbox-empty');
    assertCalm(page);
    await page.context().close();
  });
}
