import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, approval, assertCalm, before, draftOf, holdReply, item, launch, open, press, settled, startServer, test, until, visit, yesNo } from './harness.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

let server, browser, page;
before(async () => {
  server = await startServer();
  browser = await launch();
  page = await open(browser, server.url);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens a question at its own address. */
async function show(question) {
  const { id } = await server.ask(question);
  await visit(page, `/questions/${id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return id;
}
const click = (name) => page.getByRole('button', { name, exact: true }).click();
const answerOf = async (id) => (await server.closed(id)).resolution.answer;

test('every form of answer by mouse', async () => {
  const yes = await show(yesNo('Go on?'));
  await page.getByRole('button', { name: /^Yes/ }).click();
  const one = await show({ type: 'blocking', title: 'One', items: [item('choice', { options: ['a', 'b'] })] });
  await page.getByRole('radio', { name: 'b' }).click();
  await page.getByRole('button', { name: /^Answer/ }).click();
  const own = await show({ type: 'blocking', title: 'Other', items: [item('choice', { options: ['a'], other: true })] });
  await page.getByRole('radio', { name: 'Other' }).click();
  await page.getByRole('textbox', { name: 'Your own answer' }).fill('something else');
  await page.getByRole('button', { name: /^Answer/ }).click();
  const some = await show({ type: 'blocking', title: 'Some', items: [item('multi_choice', { options: ['a', 'b', 'c'] })] });
  await page.getByRole('checkbox', { name: 'a' }).click();
  await page.getByRole('checkbox', { name: 'c' }).click();
  await page.getByRole('button', { name: /^Answer/ }).click();
  const number = await show({ type: 'blocking', title: 'Number', items: [item('number', { max: 5 })] });
  await page.getByRole('textbox').fill('7');
  await page.getByRole('button', { name: /^Answer/ }).click();
  await page.getByText('Must be at most 5.').waitFor();
  await page.getByRole('textbox').fill('2,5');
  await page.getByRole('button', { name: /^Answer/ }).click();
  const date = await show({ type: 'blocking', title: 'Date', items: [item('date')] });
  await page.locator('input[type=date]').fill('2027-01-31');
  await page.getByRole('button', { name: /^Answer/ }).click();
  assert.deepEqual(
    await Promise.all([yes, one, own, some, number, date].map(answerOf)),
    [true, 'b', 'something else', ['a', 'c'], 2.5, '2027-01-31'],
  );
});

test('several items: step by step, with a review, in one answer', async () => {
  const id = await show({ type: 'blocking', title: 'Plan', items: [item('boolean', { key: 'a', header: 'Now?' }), item('text', { key: 'b', header: 'Why?' }), item('choice', { key: 'c', header: 'Who?', options: ['ann', 'ben'] })] });
  await page.getByRole('button', { name: /^Yes/ }).click();
  await page.getByText('Question 2 of 3').waitFor();
  await page.getByRole('textbox').fill('because');
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByRole('radio', { name: 'ben' }).click();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByRole('button', { name: 'Change: Now?' }).click();
  await page.getByRole('button', { name: /^No/ }).click();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByRole('button', { name: /^Send all answers/ }).click();
  assert.deepEqual((await server.closed(id)).resolution.answers, { a: false, b: 'because', c: 'ben' });
});

test('an approval names the hash of what was shown; an edited one grants exactly the edit', async () => {
  const action = { tool: 'bash', command: 'echo <done> && true', n: 1.5 };
  const id = await show(approval('Run it', action));
  await page.getByText('checked here').waitFor();
  await page.getByRole('button', { name: /^Approve/ }).click();
  const { action_hash: asked, resolution } = await server.closed(id);
  assert.equal(resolution.action_hash, asked);

  const edited = await show(approval('Run it, changed', action));
  await click('Edit, then approve');
  const text = '{"tool":"bash","command":"echo 1","n":1.50,"big":12345678901234567890}';
  await page.getByRole('textbox', { name: 'What is to run instead' }).fill(text);
  const hash = createHash('sha256').update(text).digest('hex');
  await page.getByText(hash).waitFor();
  await page.getByRole('button', { name: /^Approve the changed action/ }).click();
  const after = await server.closed(edited);
  assert.equal(after.resolution.action_hash, hash);
});

test('what cannot be seen is changed as its escape; unchanged, the action itself is approved', async () => {
  await page.setViewportSize({ width: 360, height: 780 });
  const asked = await show(approval('Run it, turned', { tool: 'bash', command: 'ls \u202e && echo <b>' }));
  const { action_hash } = await server.question(asked);
  await page.getByRole('button', { name: 'Edit, then approve' }).click();
  const field = page.getByRole('textbox', { name: 'What is to run instead' });
  await until(async () => assert.match(await field.inputValue(), /"ls \\u202e /));
  await page.getByText('Nothing is changed yet.').waitFor();
  await until(async () => assert.equal(await page.locator('code', { hasText: action_hash }).count(), 2));
  await assertAccessible(page, 'the action that is changed');
  await page.getByRole('button', { name: /^Approve the changed action/ }).click();
  assert.equal((await server.closed(asked)).resolution.action_hash, action_hash);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('an approval that ended says what became of it', async () => {
  const [kept, dropped] = [await server.ask(approval('Keep it', { tool: 'a' })), await server.ask(approval('Drop it', { tool: 'b' }))];
  await server.call('POST', `/v1/questions/${kept.id}/answer`, { answer: 'approve', action_hash: kept.action_hash });
  await server.call('POST', `/v1/questions/${dropped.id}/answer`, { answer: 'reject', comment: 'Still used.' });
  await visit(page, `/questions/${kept.id}`);
  await page.getByRole('heading', { name: 'What was approved' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'Approved' }).waitFor();
  await visit(page, `/questions/${dropped.id}`);
  await page.getByRole('heading', { name: 'What would have run' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'Rejected' }).getByText('Still used.').waitFor();
  assert.equal(await page.getByText('What will run').count(), 0);
});

test('what is dangerous takes a second, deliberate step; a rejection does not', async () => {
  const id = await show({ type: 'blocking', title: 'Drop?', items: [item('choice', { options: [{ value: 'keep' }, { value: 'drop', danger: true }] })] });
  await press(page, '2');
  await page.getByRole('alertdialog').waitFor();
  assert.equal((await server.question(id)).status, 'pending');
  assert.equal((await server.question(id)).held, undefined);
  await press(page, 'Escape');
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await press(page, '1');
  assert.equal(await answerOf(id), 'keep');
  // Escape leaves a field, so that the keys work again.
  const risky = await show(approval('Delete all', { tool: 'sql' }, { risk: 'high' }));
  await press(page, 'c');
  await page.getByRole('textbox', { name: 'Comment' }).fill('Not today');
  await press(page, 'Escape');
  await press(page, 'a');
  await page.getByRole('button', { name: 'Yes, approve' }).waitFor();
  await press(page, 'Escape');
  await page.getByRole('button', { name: 'Yes, approve' }).waitFor({ state: 'detached' });
  await press(page, 'r');
  assert.equal(await answerOf(risky), 'reject');
});

test('what an action does is read without knowing JSON, and nothing covers it', async () => {
  const before = '    return sum(items)\n';
  await server.ask(approval('Write it?', { tool: 'Write', input: { file_path: '/w/shop/price.py', content: `def price(items):\n${before}` } }));
  await server.ask(approval('Change it?', { tool: 'Edit', input: { file_path: '/w/shop/price.py', old_string: before, new_string: '    return round(sum(items) * 1.19)\n', replace_all: true } }));
  await server.ask(approval('Send it?', { tool: 'send_email', input: { to: ['all@shop.example'], subject: 'Prices', body: 'Dear customer,\nall is new.', cc: 'boss@shop.example' } }));
  await server.ask(approval('Gap?', { command: `ls${' '.repeat(600)}; rm -rf /` }));
  await server.ask(approval('Pay it?', { tool: 'pay', input: { payments: [{ to: 'ACME', amount: 120.5 }, { to: 'Globex', amount: 99 }] } }));
  const wants = {
    'Write it?': ['Write: Writes /w/shop/price.py', 'def price(items):', '"tool": "Write"'],
    'Change it?': ['Edit: Changes /w/shop/price.py', '- ' + before.trimEnd(), '+     return round(sum(items) * 1.19)', 'In every place that has this text:'],
    'Send it?': ['send_email: Sends to all@shop.example', 'Prices', 'Dear customer,', '{"cc": "boss@shop.example"}'],
    'Gap?': ['600 × U+0020', '; rm -rf /'],
    'Pay it?': ['pay: With the list payments', 'ACME', '120.5', 'Globex', '"tool": "pay"'],
  };
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    for (const [title, texts] of Object.entries(wants)) {
      await visit(page, `/?q=${encodeURIComponent(title)}`);
      const row = page.locator('[data-row]', { hasText: title });
      if (title !== 'Pay it?' && title !== 'Gap?') await row.getByText(title === 'Send it?' ? 'all@shop.example' : '/w/shop/price.py').waitFor();
      await row.click();
      await page.getByRole('heading', { name: title }).waitFor();
      const runs = page.getByRole('region', { name: 'What will run' });
      await runs.locator('summary').waitFor();
      for (const text of texts) await until(async () => assert.ok((await runs.innerText()).includes(text), `${text} in ${await runs.innerText()}`));
      const exact = runs.getByText('Exact bytes and hash');
      await exact.scrollIntoViewIfNeeded();
      await exact.click();
      await runs.getByText('Your answer names their hash.').waitFor();
      if (width > 390) await assertAccessibleEverywhere(page, `action-${title.split(' ')[0]}`, { over: [1280, 390] });
      await page.setViewportSize({ width, height });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('a question is given to people who may answer it, without knowing their handles', async () => {
  await server.call('POST', '/v1/members', { handle: 'ines', name: 'Ines', role: 'responder' });
  const id = await show(yesNo('For whom?'));
  await press(page, 's');
  await page.getByRole('checkbox', { name: 'Ines (ines)' }).check();
  await page.getByRole('textbox', { name: 'Others' }).fill('group:nobody');
  await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click();
  await page.getByRole('alert').getByText('"group:nobody" is no member, no group and no role that anybody has', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Others' }).fill('role:admin');
  await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click();
  await until(async () => assert.deepEqual((await server.question(id)).assignees, ['ines', 'role:admin']));
});

test('the choices of a long action stay in sight, and it is approved only after its end was', async () => {
  const id = await show(approval('Delete all', { tool: 'bash', command: Array.from({ length: 200 }, (_, n) => `rm -r /data/${n}`).join('\n') }, { risk: 'high' }));
  const inSight = async (part) => {
    const box = await part.boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= page.viewportSize().height, JSON.stringify(box));
  };
  await inSight(page.getByRole('button', { name: /^Approve/ }));
  await press(page, 'a');
  const confirmation = page.getByRole('alertdialog');
  await confirmation.getByText('Read to the end').waitFor();
  await inSight(confirmation);
  await press(page, 'Enter');
  assert.equal((await server.question(id)).held, undefined);
  await press(page, 'End');
  await confirmation.locator('button:focus', { hasText: 'Yes, approve' }).waitFor();
  await press(page, 'Enter');
  assert.equal(await answerOf(id), 'approve');
});

test('an answer is taken back within its seconds, and the question is open again', async () => {
  await server.allowUndo(60);
  const { id } = await server.ask(yesNo('Undo me'));
  await visit(page, '/?q=Undo+me');
  await page.getByRole('heading', { name: 'Undo me' }).waitFor();
  await press(page, 'y');
  await page.getByText('Yes · Undo me').waitFor();
  await press(page, 'z');
  await page.getByText('Taken back. The question is open again.').waitFor();
  const question = await server.question(id);
  assert.deepEqual([question.status, question.held], ['pending', undefined]);
  await page.getByRole('heading', { name: 'Undo me' }).waitFor();
  await server.allowUndo(1);
  await press(page, 'n');
  assert.equal(await answerOf(id), false);
});

test('the words of an answer that is taken back stay, and it is given again where it stands', async () => {
  await server.allowUndo(60);
  const { id } = await server.ask({ type: 'blocking', title: 'In words', items: [item('text')] });
  const words = page.getByRole('textbox', { name: 'What shall it be?' });
  for (const path of ['/?q=In+words', `/questions/${id}`]) {
    await visit(page, path);
    await words.fill('Too soon');
    await words.press('Control+Enter');
    await page.getByText('Too soon · In words').waitFor();
    await press(page, 'z');
    await page.getByText('Taken back. The question is open again.').waitFor();
    await until(async () => assert.equal(await words.inputValue(), 'Too soon'));
  }
  await server.allowUndo(1);
  await words.fill('Now');
  await words.press('Control+Enter');
  assert.equal(await answerOf(id), 'Now');
  await until(async () => assert.equal(await draftOf(page, id), null));
});

test('what was read before an answer was taken back does not show it as given', async () => {
  await server.allowUndo(60);
  const { id } = await server.ask(yesNo('Read late'));
  await visit(page, '/?q=Read+late');
  await page.getByRole('heading', { name: 'Read late' }).waitFor();
  // The first read of the question has ended, so a later one is held.
  await settled(page);
  const release = await holdReply(page, `**/v1/questions/${id}`);
  await page.keyboard.press('y');
  await release.read;
  await page.getByText('Yes · Read late').waitFor();
  let reads = 0;
  page.on('response', (response) => (reads += response.url().endsWith(`/v1/questions/${id}`) ? 1 : 0));
  await page.keyboard.press('z');
  await until(async () => assert.equal((await server.question(id)).held, undefined));
  await page.getByText('Taken back. The question is open again.').waitFor();
  // The list and the question beside it read the question again.
  await until(() => assert.ok(reads >= 2));
  release();
  await server.allowUndo(1);
  await press(page, 'n');
  assert.equal(await answerOf(id), false);
});

test('an answer that could not be taken back says so, and can still be taken back', async () => {
  await server.allowUndo(60);
  const { id } = await server.ask(yesNo('Hold on'));
  await visit(page, '/?q=Hold+on');
  await page.getByRole('heading', { name: 'Hold on' }).waitFor();
  await press(page, 'y');
  const bar = page.getByText('Yes · Hold on');
  await bar.waitFor();
  await page.route('**/undo', (route) => route.abort('connectionreset'));
  await press(page, 'z');
  await page.getByText('The server cannot be reached.').waitFor();
  await bar.waitFor();
  await page.unroute('**/undo');
  assert.ok((await server.question(id)).held);
  // A notification does not cover the bar.
  await page.getByRole('button', { name: 'Undo' }).click();
  await until(async () => assert.equal((await server.question(id)).held, undefined));
  await bar.waitFor({ state: 'detached' });
  await server.allowUndo(1);
  await press(page, 'n');
  assert.equal(await answerOf(id), false);
});

test('somebody else answers: it shows at once, with who and what, and the draft stays', async () => {
  const id = await show({ type: 'blocking', title: 'Who is faster?', items: [item('text')] });
  await page.getByRole('textbox').fill('my own wor');
  const ann = await server.call('POST', '/v1/members', { handle: 'ann', role: 'responder' }).catch(() => undefined);
  const { secret } = await server.call('POST', '/v1/tokens', { name: 'ann', kind: 'human', member: 'ann', scopes: ['answer', 'read'] });
  assert.ok(ann && secret);
  await server.call('POST', `/v1/questions/${id}/answer`, { answer: 'I am' }, { Authorization: `Bearer ${secret}` });
  await page.getByText('ann answered').waitFor();
  await page.getByText('I am', { exact: true }).waitFor();
  assert.equal(await page.getByRole('textbox').count(), 0);
  assert.match(await draftOf(page, id), /my own wor/);
});

test('a draft survives a reload', async () => {
  const id = await show({ type: 'blocking', title: 'Long story', items: [item('text')] });
  await page.getByRole('textbox').fill('Once upon a time');
  await page.keyboard.press('Escape');
  await page.reload();
  await until(async () => assert.equal(await page.getByRole('textbox').inputValue(), 'Once upon a time'));
  await page.getByRole('textbox').press('Control+Enter');
  assert.equal(await answerOf(id), 'Once upon a time');
  await until(async () => assert.equal(await draftOf(page, id), null));
});

test('beside answering: see who may, extend, ask back, comment, put off, withdraw', async () => {
  const id = await show({ ...yesNo('Much to do'), timeout: '30m' });
  await click('Who may answer');
  await page.getByRole('region', { name: 'Who may answer' }).getByText(': may answer').first().waitFor();
  await page.getByText('One answer decides.').waitFor();
  const before = Date.parse((await server.question(id)).deadline);
  await press(page, '+');
  await until(async () => assert.ok(Date.parse((await server.question(id)).deadline) > before));
  // Escape closes what is on top and no more.
  await press(page, 'b');
  await page.getByRole('dialog', { name: 'Ask back' }).waitFor();
  await press(page, 'Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await settled(page);
  assert.equal(new URL(page.url()).pathname, `/questions/${id}`);
  await press(page, 'm');
  await page.getByLabel('Your comment').fill('Wait for Ann.');
  // A dialog that is closed by accident keeps what was typed.
  await press(page, 'Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await press(page, 'm');
  assert.equal(await page.getByLabel('Your comment').inputValue(), 'Wait for Ann.');
  await page.getByLabel('Your comment').press('Control+Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('Wait for Ann.').waitFor();
  await press(page, 'h');
  await page.getByRole('button', { name: /In 15 minutes/ }).click();
  await until(async () => assert.ok((await server.question(id)).snoozed_until));
  await click('More');
  await page.getByRole('menuitem', { name: 'Withdraw the question' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the question' }).click();
  await until(async () => assert.equal((await server.question(id)).status, 'cancelled'));
  await page.getByText('No answer is needed any more').waitFor();
});

test('script and markup are text everywhere', async () => {
  const evil = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';
  const id = await show({
    type: 'blocking', title: `Title ${evil}`, body: `Body ${evil} [x](javascript:window.evil=1) ![y](http://127.0.0.1:9/x.png)`, project: 'p',
    context: { step: evil, error: evil, preview: { kind: 'table', text: `a\tb\n${evil}\t2` } },
    items: [item('choice', { prompt: `Prompt ${evil}`, header: evil.slice(0, 60), options: [{ value: evil, label: evil, description: evil }] })],
  });
  await page.getByText('Body').first().waitFor();
  await page.goto(server.url);
  await page.locator('[data-row]').first().waitFor();
  await visit(page, `/questions/${id}`);
  await page.getByRole('radio').first().click();
  await page.getByRole('button', { name: /^Answer/ }).click();
  assert.equal(await answerOf(id), evil);
  await page.getByText('You answered').waitFor();
  assert.equal(await page.evaluate(() => window.evil), undefined);
  assert.equal(await page.locator('main img[src^="http"], main script').count(), 0);
});

test('a very large preview is shown whole and can be answered at once', async () => {
  const line = 'x'.repeat(99);
  const text = `${'ü'.repeat(20)}\n${`${line}\n`.repeat(1990)}the very end`;
  const id = await show({ ...yesNo('Large'), body: 'b'.repeat(250_000), context: { preview: { kind: 'text', text }, error: 'e'.repeat(19_000) } });
  await until(async () => assert.match(await page.locator('main').textContent(), /the very end/));
  await press(page, 'y');
  assert.equal(await answerOf(id), true);
  // The largest action that a request can hold.
  const big = await show(approval('A megabyte', { tool: 'write', text: 'y'.repeat(900_000), end: 'last words' }));
  await page.getByText('checked here').waitFor();
  await until(async () => assert.match(await page.locator('main').textContent(), /last words/));
  await press(page, 'a');
  assert.equal(await answerOf(big), 'approve');
  assertCalm(page);
});
