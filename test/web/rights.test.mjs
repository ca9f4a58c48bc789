import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, launch, open, press, settled, test, until, visit, yesNo } from './harness.mjs';
import { linkFor, signIn, startTeam } from './people.mjs';
import { assertAccessibleEverywhere } from './accessibility.mjs';

let server, browser, admin;
const tokens = {};
before(async () => {
  server = await startTeam();
  browser = await launch();
  admin = await open(browser, `${server.named}/sign-in`);
  await signIn(admin, server, server.firstLink);
  for (const [handle, role, groups] of [['vera', 'viewer', []], ['ada', 'responder', []], ['ben', 'responder', ['ops']], ['ann', 'responder', ['ops']], ['olga', 'operator', []]]) {
    await server.call('POST', '/v1/members', { handle, role, groups });
  }
  tokens.ann = (await server.call('POST', '/v1/tokens', { name: 'ann at the desk', kind: 'human', member: 'ann', role: 'responder', scopes: ['answer'] })).secret;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens a page on which a member is signed in. */
async function as(handle) {
  const page = await open(browser, `${server.named}/sign-in`);
  await page.evaluate(() => new MutationObserver(() => {
    window.wasLost ||= document.body.innerText.includes('connection to the server is lost');
  }).observe(document, { childList: true, subtree: true, characterData: true }));
  // The link is followed in the page, so that the page is not loaded again and the observer stays.
  const link = await linkFor(admin, handle);
  await page.evaluate((to) => history.pushState({}, '', to), link);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.named}/`);
  await settled(page);
  return page;
}

/** Returns the names of the tools that the page offers, with those in the menu. */
async function offered(page) {
  const tools = page.getByRole('group', { name: 'Besides answering' });
  if (await tools.count() === 0) return [];
  const names = await tools.getByRole('button').evaluateAll((all) => all.map((button) => button.title));
  await tools.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem').first().waitFor();
  const more = await page.getByRole('menuitem').allTextContents();
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  return [...names.filter((name) => name !== 'More'), ...more];
}

test('a person sees what this person may do with a question, and who may answer it', async () => {
  const { id } = await server.ask({ ...yesNo('Restart the server?'), assignees: ['group:ops'] });
  for (const [handle, want] of [['vera', []], ['ada', ['Comment for people', 'Withdraw the question']], ['olga', ['Comment for people', 'Assign', 'Withdraw the question']]]) {
    const page = await as(handle);
    assert.equal(await page.evaluate(() => Boolean(window.wasLost)), false);
    await page.getByText('Nothing needs you.').waitFor();
    await visit(page, `/questions/${id}`);
    await page.getByText('You may read this question, but not answer it.').waitFor();
    await page.getByText('Waits for others').waitFor();
    await page.getByRole('button', { name: 'Who may answer' }).click();
    await page.getByText('ben: may answer').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Answer', exact: true }).count(), 0);
    assert.deepEqual(await offered(page), want);
    await press(page, 'y');
    await settled(page);
    if (handle === 'vera') await assertAccessibleEverywhere(page, 'question-of-others');
    assertCalm(page);
    await page.context().close();
  }
  assert.equal((await server.question(id)).status, 'pending');
  const page = await as('ben');
  await press(page, 'y');
  assert.equal((await server.closed(id)).resolution.answered_by.name, 'ben');
  await page.context().close();
});

test('who voted is asked no more, and reads who is waited for', async () => {
  const { id, action_hash } = await server.ask(approval('Deploy 512?', { tool: 'deploy' }, { assignees: ['group:ops'], approvals: { required: 2 } }));
  const page = await as('ben');
  await page.getByRole('heading', { name: 'Deploy 512?' }).waitFor();
  await press(page, 'a');
  await until(async () => assert.equal((await server.question(id)).votes?.length, 1));
  await visit(page, `/questions/${id}`);
  await page.getByText('You approved · waiting for one more (the group ops)').waitFor();
  await page.getByText('Waits for others').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0);
  await assertAccessibleEverywhere(page, 'question-voted');
  await page.goto(server.named);
  await page.getByText('Nothing needs you.').waitFor();
  await server.call('POST', `/v1/questions/${id}/answer`, { answer: 'approve', action_hash }, { Authorization: `Bearer ${tokens.ann}` });
  assert.equal((await server.closed(id)).resolution.answer, 'approve');
  assertCalm(page);
  await page.context().close();
});
