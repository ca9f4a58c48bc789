// A person answers with the link of a mail: on a phone, without a script, and
// without signing in.
import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, focused, item, launch, newContext, open, schemes, shoot, test, until, visit } from './harness.mjs';
import { signIn, startTeam } from './people.mjs';
import { startPostbox } from './postbox.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';
import { controlled } from './worker.mjs';

let postbox, server, browser;
const copies = {};
before(async () => {
  postbox = await startPostbox();
  server = await startTeam(['--smtp', postbox.url, '--mail-from', 'fermata@example.com']);
  await server.call('POST', '/v1/members', { handle: 'ada', email: 'ada@example.com', role: 'responder' });
  const step = [{ after: '0s', channel: 'email', when: 'always' }];
  await server.call('PUT', '/v1/routes', { blocking: step, approval: step, error_recovery: step, non_blocking: step, progress: [] });
  await server.call('PUT', '/v1/policies', { ...(await server.call('GET', '/v1/policies')), least_risk: { approval: 'low' } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  postbox.stop();
});

/** Asks a question, and returns it with the link in the mail about it. */
async function asked(question) {
  const from = postbox.mails.length;
  const q = await server.ask({ risk: 'low', assignees: ['ada'], ...question });
  const path = await until(() => {
    const found = /\/a\/[\w.-]+/.exec(postbox.mails.slice(from).join('\n').replaceAll('=\n', ''));
    assert.ok(found, `a mail with a link:\n${postbox.mails.slice(from).join('\n')}`);
    return found[0];
  });
  return { q, url: server.named + path };
}

/** Checks a page without scripts. Its content is copied to a page with scripts, because axe is a script. */
async function assertLinkPageAccessible(page, name, scheme = 'light') {
  copies[scheme] ??= await (await newContext(browser, { viewport: { width: 360, height: 780 }, colorScheme: scheme })).newPage();
  await copies[scheme].setContent(await page.content());
  await assertAccessible(copies[scheme], name);
}

async function phone(scheme, url) {
  const context = await newContext(browser, { viewport: { width: 360, height: 780 }, colorScheme: scheme, javaScriptEnabled: false });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
  await page.goto(url);
  return page;
}

const all = [
  item('choice', { key: 'db', prompt: 'Which database?', options: [{ value: 'sqlite', label: 'SQLite', recommended: true, description: 'One file' }, { value: 'drop', label: 'Drop everything', danger: true }], other: true }),
  item('multi_choice', { key: 'who', prompt: 'Who reviews?', options: ['ann', 'ben', 'eve'] }),
  item('boolean', { key: 'now', prompt: 'Now?' }),
  item('number', { key: 'replicas', prompt: 'How many?', min: 1, max: 9 }),
  item('date', { key: 'when', prompt: 'When?' }),
  item('text', { key: 'name', prompt: 'What is its name?', max_length: 10 }),
];

for (const scheme of schemes) {
  test(`several items of every kind are answered on a phone, ${scheme}`, async () => {
    const { q, url } = await asked({ type: 'blocking', title: 'The release', body: 'Two ways.\n<b>bold</b>', items: all, context: { step: 'Build', preview: { kind: 'diff', text: '+a\n-b' } } });
    const page = await phone(scheme, url);
    await assertLinkPageAccessible(page, `the page of a link, ${scheme}`, scheme);
    await shoot(page, `answer-link-${scheme}-360`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Nothing was sent yet.').waitFor();
    await assertLinkPageAccessible(page, `the page with problems, ${scheme}`, scheme);
    await page.getByLabel('Drop everything').check();
    await page.getByRole('checkbox', { name: 'eve' }).check();
    await page.getByRole('checkbox', { name: 'ann' }).check();
    await page.getByRole('group', { name: 'Now?' }).getByLabel('Yes').check();
    await page.getByLabel('How many?').fill('3');
    await page.getByLabel('When?').fill('2027-01-31');
    await page.getByLabel('What is its name?').fill('<i>x</i>');
    await page.getByLabel('Comment').fill('in a hurry');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('This is dangerous').waitFor();
    await assertLinkPageAccessible(page, `the page that asks once more, ${scheme}`, scheme);
    await shoot(page, `answer-link-danger-${scheme}-360`);
    assert.equal((await server.question(q.id)).status, 'pending');
    await page.getByRole('button', { name: 'Yes, send it' }).click();
    await page.getByText('Answered by ada').waitFor();
    await assertLinkPageAccessible(page, `the page with the outcome, ${scheme}`, scheme);
    await shoot(page, `answer-link-done-${scheme}-360`);
    const { resolution } = await server.question(q.id);
    assert.deepEqual(resolution.answers, { db: 'drop', who: ['ann', 'eve'], now: true, replicas: 3, when: '2027-01-31', name: '<i>x</i>' });
    assert.equal(resolution.comment, 'in a hurry');
    assert.equal(resolution.assurance, 'link');
    await page.goto(url);
    await page.getByText('Answered by ada').waitFor();
    assert.deepEqual(page.complaints.filter((text) => !/422/.test(text)), []);
    await page.context().close();
  });

  test(`an approval shows all of its action, ${scheme}`, async () => {
    const { q, url } = await asked(approval('Push it?', { run: 'git push \u202e origin', list: ['a'.repeat(600)] }));
    const page = await phone(scheme, url);
    await page.getByLabel('What will run').getByText('⟨U+202E⟩').waitFor();
    await page.getByText(q.action_hash).waitFor();
    await assertLinkPageAccessible(page, `an approval by a link, ${scheme}`, scheme);
    await shoot(page, `answer-link-approval-${scheme}-360`);
    await page.getByLabel('Reject').focus();
    await focused(page.getByLabel('Reject'));
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await focused(page.getByRole('textbox'));
    await page.keyboard.type('not today');
    await page.keyboard.press('Tab');
    await focused(page.getByRole('button', { name: 'Continue' }));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Yes, send it' }).click();
    await page.getByText('Rejected by ada: not today.').waitFor();
    await page.context().close();
  });
}

test('a dead link explains itself and leads to the sign-in', async () => {
  const { q, url } = await asked({ type: 'blocking', title: 'Which?', items: [item('text', { prompt: 'Which?' })] });
  await server.call('POST', `/v1/questions/${q.id}/cancel`, { reason: 'x' });
  const page = await phone('light', url);
  await page.getByText('Cancelled by').waitFor();
  await assertLinkPageAccessible(page, 'a dead link');
  await page.goto(`${url}x`);
  await page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
  await page.getByRole('link', { name: 'Sign in' }).waitFor();
  await page.context().close();
});

test('an admin says what links answer, and it holds for those that were sent before', async () => {
  const { q, url } = await asked({ type: 'blocking', title: 'Which way?', items: [item('text', { prompt: 'Which way?' })] });
  const admin = await open(browser, `${server.named}/sign-in`);
  await signIn(admin, server, server.firstLink);
  await visit(admin, '/settings/policy');
  const links = admin.getByRole('combobox', { name: 'Answered by the link' });
  const say = async (what) => {
    await links.click();
    await admin.getByRole('option', { name: what, exact: true }).click();
    await admin.getByRole('button', { name: 'Save the rules' }).click();
    await until(async () => assert.equal((await server.call('GET', '/v1/policies')).link_answers, { Nothing: 'off' }[what] ?? 'medium'));
  };
  await links.waitFor();
  await until(async () => assert.equal(await links.inputValue(), 'Questions of low risk'));
  await say('Nothing');
  await assertAccessibleEverywhere(admin, 'settings-policy-links', { arrange: () => links.scrollIntoViewIfNeeded() });

  const page = await phone('light', url);
  await page.getByRole('link', { name: 'Sign in and open the question' }).waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  await assertLinkPageAccessible(page, 'a link that answers nothing any more');
  await page.context().close();

  await say('Questions of low and medium risk');
  const medium = await asked({ type: 'blocking', title: 'And which wall?', risk: 'medium', items: [item('text', { prompt: 'And which wall?' })] });
  for (const link of [url, medium.url]) {
    const opened = await phone('light', link);
    await opened.getByRole('textbox').first().fill('north');
    await opened.getByRole('button', { name: 'Continue' }).click();
    await opened.getByRole('button', { name: 'Yes, send it' }).click();
    await opened.getByText('Answered by ada').waitFor();
    await opened.context().close();
  }
  assert.equal((await server.question(q.id)).resolution.answer, 'north');
  await admin.reload();
  await links.waitFor();
  await until(async () => assert.equal(await links.inputValue(), 'Questions of low and medium risk'));
  assertCalm(admin);
});

test('the page of a link is not kept on the device', async () => {
  const { url } = await asked({ type: 'blocking', title: 'Keep nothing of it', items: [item('boolean', { key: 'it' })] });
  const page = await open(browser, `${server.named}/sign-in`, { serviceWorkers: 'allow' });
  await controlled(page);
  await page.goto(url);
  await page.getByText('Keep nothing of it').first().waitFor();
  const kept = await page.evaluate(async () => {
    const pages = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) pages.push(request.url, await (await cache.match(request)).text());
    }
    return pages;
  });
  assert.ok(kept.some((text) => text.includes('<div id="root">')), 'the shell is kept');
  assert.deepEqual(kept.filter((text) => text.includes('Keep nothing of it') || text.includes('/a/')), []);
  await page.context().close();
});
