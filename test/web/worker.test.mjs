import assert from 'node:assert/strict';
import { after, approval, assertCalm, before, launchFull, open, test, until, yesNo } from './harness.mjs';
import { signIn, startTeam } from './people.mjs';
import { workerOf } from './worker.mjs';

let server, browser, page, worker;
before(async () => {
  server = await startTeam();
  browser = await launchFull();
  page = await open(browser, `${server.named}/sign-in`, { serviceWorkers: 'allow' });
  await page.context().grantPermissions(['notifications'], { origin: server.named });
  await signIn(page, server, server.firstLink);
  worker = await workerOf(page);
  // No one looks at a page of Fermata.
  await page.goto('about:blank');
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

let sent = 0;
const message = (question, more = {}) => ({
  kind: 'question', tag: `fermata-${question.id}`, title: question.title, body: 'Needs an answer · shop', path: `/questions/${question.id}`, lang: 'en', at: Date.now(),
  again: true, stays: true, question: question.id, delivery: `dlv_${sent++}`, member: 'admin', ...more,
});
const yesOrNo = [{ action: 'yes', title: 'Yes', answer: true }, { action: 'no', title: 'No', answer: false }];
const decide = [{ action: 'approve', title: 'Approve', answer: 'approve' }, { action: 'reject', title: 'Reject', answer: 'reject' }];
const onlyOne = async (tag) => {
  const found = (await worker.shown()).filter((each) => each.tag === tag);
  assert.equal(found.length, 1, JSON.stringify(found));
  return found[0];
};

test('a message is shown, a newer one of the same question takes its place, a press opens the page', async () => {
  const question = await server.ask(yesNo('Deploy now?'));
  const first = message(question);
  await worker.push(first);
  const shown = await until(() => onlyOne(first.tag));
  assert.deepEqual(shown, { title: 'Deploy now?', body: 'Needs an answer · shop', tag: first.tag, actions: [], silent: false, again: true, stays: true, lang: 'en' });
  await worker.push({ ...first, kind: 'closed', body: 'answered by Ada: yes', again: false, silent: true, stays: false });
  await until(async () => assert.equal((await onlyOne(first.tag)).body, 'answered by Ada: yes'));
  assert.equal((await onlyOne(first.tag)).silent, true);
  assert.deepEqual(await worker.press(first.tag), [`${server.named}/questions/${question.id}`]);
  assert.deepEqual(await worker.shown(), []);
});

test('a button answers by the session, once, and the answer can be taken back', async () => {
  await server.allowUndo(60);
  const question = await server.ask(yesNo('Clear the cache?', { risk: 'low' }));
  const pushed = message(question, { actions: yesOrNo });
  await worker.push(pushed);
  await until(async () => assert.deepEqual((await onlyOne(pushed.tag)).actions, ['Yes', 'No']));
  assert.deepEqual(await worker.press(pushed.tag, 'Yes'), []);
  const thanks = await onlyOne(pushed.tag);
  assert.deepEqual([thanks.body, thanks.actions, thanks.silent], ['Your answer: Yes', ['Undo'], true]);
  assert.equal((await server.question(question.id)).held.answers.it, true);
  assert.deepEqual(await worker.press(pushed.tag, 'Undo'), []);
  assert.match((await onlyOne(pushed.tag)).body, /Taken back/);
  assert.equal((await server.question(question.id)).held, undefined);
  await worker.press(pushed.tag);

  await server.allowUndo(1);
  const other = await server.ask(yesNo('Clear it again?', { risk: 'low' }));
  const second = message(other, { actions: yesOrNo, lang: 'de' });
  await worker.push(second);
  await until(() => onlyOne(second.tag));
  await worker.press(second.tag, 'No');
  assert.equal((await onlyOne(second.tag)).body, 'Ihre Antwort: No');
  // The same press again, as after a lost reply, is the same answer.
  await worker.push(second);
  await until(async () => assert.equal((await onlyOne(second.tag)).actions.length, 2));
  assert.deepEqual(await worker.press(second.tag, 'No'), []);
  const { resolution } = await server.closed(other.id);
  assert.deepEqual([resolution.answer, resolution.channel, resolution.assurance], [false, 'push', 'session']);
  await worker.press(second.tag);
});

test('an approval names the action that was shown', async () => {
  const question = await server.ask(approval('Run it?', { tool: 'ls', args: {} }, { risk: 'low' }));
  const stale = message(question, { actions: decide, action_hash: '0'.repeat(64) });
  await worker.push(stale);
  await until(() => onlyOne(stale.tag));
  assert.deepEqual(await worker.press(stale.tag, 'Approve'), [`${server.named}/questions/${question.id}`]);
  assert.equal((await server.question(question.id)).status, 'pending');
  await worker.push(message(question, { actions: decide, action_hash: question.action_hash }));
  await until(() => onlyOne(stale.tag));
  assert.deepEqual(await worker.press(stale.tag, 'Approve'), []);
  assert.equal((await server.closed(question.id)).resolution.answer, 'approve');
  await worker.press(stale.tag);
});

test('what a button cannot do is left to the page', async () => {
  const question = await server.ask(yesNo('Who is faster?'));
  const pushed = message(question, { actions: yesOrNo });
  await worker.push(pushed);
  await until(() => onlyOne(pushed.tag));
  await server.call('POST', `/v1/questions/${question.id}/cancel`, {});
  assert.deepEqual(await worker.press(pushed.tag, 'Yes'), [`${server.named}/questions/${question.id}`]);

  for (const member of ['grace', undefined]) {
    const theirs = await server.ask(yesNo(`Is it for ${member}?`));
    const third = message(theirs, { actions: yesOrNo, member });
    await worker.push(third);
    await until(() => onlyOne(third.tag));
    assert.deepEqual(await worker.press(third.tag, 'Yes'), [`${server.named}/questions/${theirs.id}`]);
    assert.equal((await server.question(theirs.id)).held, undefined);
  }

  await page.context().setOffline(true);
  const other = await server.ask(yesNo('Is anybody there?'));
  const second = message(other, { actions: yesOrNo });
  await worker.push(second);
  await until(() => onlyOne(second.tag));
  assert.deepEqual(await worker.press(second.tag, 'Yes'), [`${server.named}/questions/${other.id}`]);
  await page.context().setOffline(false);
  assert.equal((await server.question(other.id)).held, undefined);
});

test('nothing leads out of Fermata, and what cannot be read is still a notification', async () => {
  await worker.push({ kind: 'alert', tag: 'evil', title: 'Evil', path: 'https://evil.example/' });
  await until(() => onlyOne('evil'));
  assert.deepEqual(await worker.press('evil'), [server.named]);
  await worker.push('not JSON');
  assert.equal((await until(() => onlyOne('fermata'))).title, 'Fermata');
  assert.deepEqual(await worker.press('fermata'), [`${server.named}/`]);
});

test('who looks at the page is not told that a question closed', async () => {
  const looking = await open(browser, server.named, { context: page.context() });
  const question = await server.ask(yesNo('Seen on the page?'));
  const pushed = message(question);
  await worker.push(pushed);
  await until(() => onlyOne(pushed.tag));
  await worker.push({ ...pushed, kind: 'closed', silent: true, again: false });
  await until(async () => assert.deepEqual(await worker.shown(), []));
  assertCalm(looking);
  await looking.close();
});
