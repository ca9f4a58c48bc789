import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { startGitHub } from './github.mjs';
import { after, assertCalm, before, launch, newContext, open, patient, press, settled, shoot, startServer, test, until, visit } from './harness.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

const secret = 'a-value-that-nobody-may-read-81';

/** A server that returns more than a step may keep, or the status that the test sets. */
const elsewhere = createServer((request, response) => {
  response.statusCode = elsewhere.status;
  response.end(request.url === '/large' ? 'x'.repeat(10 << 20) : 'ok');
});
elsewhere.status = 503;

let server, hub, browser, address, page;
before(async () => {
  process.env.FERMATA_SECRET_DEPLOY = secret;
  [hub, server, browser] = await Promise.all([startGitHub(), startServer({ args: ['--single-user', '--allow-networks', '127.0.0.0/8'] }), launch(), new Promise((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))]);
  page = await open(browser, server.url);
  address = `http://127.0.0.1:${elsewhere.address().port}`;
  await server.call('POST', '/v1/channels', { name: 'github', kind: 'github', settings: hub.settings });
  hub.inbound(server.url);
  // The first of its runs is due within a minute. The last test looks at it.
  await put(`name: planned
triggers: [{ schedule: "* * * * *" }]
steps: [{ id: nap, tool: wait, input: { for: 1s } }]
`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await hub.stop();
  elsewhere.close();
});

const put = (source) => server.call('PUT', `/v1/workflows/${/^name: (\S+)/m.exec(source)[1]}`, { source });
const start = (name, inputs = {}) => server.call('POST', `/v1/workflows/${name}/runs`, { inputs });
const read = (id) => server.call('GET', `/v1/workflow-runs/${id}`);
const step = (page, name) => page.locator(`[data-step="${name}"]`);
const node = (page, name) => page.locator(`[data-node="${name}"]`);
const row = (page, id) => page.locator(`[data-run="${id}"]`);
const why = (page) => page.locator('[data-trigger]');
const pick = async (page, filter, option) => {
  await page.getByRole('combobox', { name: filter }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
};

/** Returns the only run of a workflow, once there is one. */
const runOf = (workflow, limit) => until(async () => {
  const { items } = await server.call('GET', `/v1/workflow-runs?workflow=${workflow}`);
  assert.ok(items.length > 0, `no run of ${workflow}`);
  return items.at(-1);
}, limit);

/** Calls a webhook as Standard Webhooks specifies. */
const callHook = (name, key, body) => {
  const at = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64')).update(`msg_1.${at}.${JSON.stringify(body)}`).digest('base64');
  return server.call('POST', `/v1/hooks/workflow/${name}`, body, { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` });
};

/** A workflow of fifteen steps, with a loop, a step for the case that no one answers, and long names. */
const train = `name: release-train
triggers:
  - manual: true
  - webhook: true
  - label_added: release
inputs:
  version: { type: string, default: 1.4.0 }
steps:
  - { id: checkout, tool: wait, input: { for: 1s } }
  - { id: build_everything_for_all_platforms, tool: wait, input: { for: 1s } }
  - id: review
    tool: post_question
    input: { question: "Is {{ inputs.version }} good?", options: [good, build_again, stop], timeoutHours: 24, timeoutAction: skip }
    suspend: true
    on_resume: { goto: { good: notes, build_again: build_everything_for_all_platforms, stop: tidy } }
    on_timeout: { tool: notify, input: { title: Nobody answered, channels: [log] } }
${['notes', 'changelog', 'sign_what_was_built', 'upload', 'announce', 'tag', 'close_the_milestone', 'deploy', 'watch', 'report', 'thank', 'tidy'].map((id) => `  - { id: ${id}, tool: wait, input: { for: 1s } }`).join('\n')}
`;

test('the page of a run says what started it: a label, a webhook, an event, another run', async () => {
  await put(`name: labelled
triggers: [{ label_added: auto-fix }]
steps: [{ id: nap, tool: wait, input: { for: 1s } }]
`);
  await put(`name: hooked
triggers: [{ webhook: true }]
steps: [{ id: nap, tool: wait, input: { for: 1s } }]
`);
  await put(`name: asks
triggers: [{ manual: true }]
inputs: { what: { type: string, default: this } }
steps: [{ id: ask, tool: post_question, suspend: true, input: { question: "Is {{ inputs.what }} right?", options: [right, wrong] } }]
`);
  await put(`name: follower
triggers: [{ event: question.answered }]
steps: [{ id: nap, tool: wait, input: { for: 1s } }]
`);
  await put(`name: parent
triggers: [{ manual: true }]
steps: [{ id: sub, tool: workflow, input: { name: asks, inputs: { what: the child } } }]
`);
  hub.label('ada', 7, 'auto-fix');
  const { secret: key } = await server.call('POST', '/v1/workflows/hooked/webhook-secret', {});
  await callHook('hooked', key, { version: '1.4.0' });

  await visit(page, `/workflow-runs/${(await runOf('labelled')).id}`);
  await why(page).getByText(`The label auto-fix was added to ${hub.settings.repository}#7.`).waitFor();
  await page.getByText('What the trigger knew').click();
  await page.getByRole('group', { name: 'What the trigger knew' }).getByText('"actor": "ada"').waitFor();

  await visit(page, `/workflow-runs/${(await runOf('hooked')).id}`);
  await why(page).getByText('Its webhook was called.').waitFor();
  await page.getByText('What the trigger knew').click();
  await page.getByRole('group', { name: 'What the trigger knew' }).getByText('"version": "1.4.0"').waitFor();

  const { id: parent } = await start('parent');
  await visit(page, `/workflow-runs/${parent}`);
  await page.getByText('It waits for a task.').waitFor();
  await node(page, 'sub').getByText('Waits for a task').waitFor();
  await page.locator('[data-waiting] ~ *').getByRole('link', { name: 'asks' }).click();
  await page.getByRole('heading', { name: 'Is the child right?' }).waitFor();
  await why(page).getByText('A run of parent started it.').waitFor();
  await page.getByRole('radio', { name: 'right', exact: true }).check();
  await page.getByRole('button', { name: /^Answer/ }).first().click();
  await page.getByText(/It is done\. It took/).waitFor();
  await page.getByRole('link', { name: 'Open that run' }).click();
  await page.waitForURL(`**/${parent}`);
  await page.getByText(/It is done\. It took/).waitFor();

  await visit(page, `/workflow-runs/${(await runOf('follower')).id}`);
  await why(page).getByText('The event question.answered happened.').waitFor();
  await page.getByRole('link', { name: 'Open the task of the event' }).waitFor();
  assertCalm(page);
});

test('a step that no worker takes says so, and what starts one', async () => {
  await put(`name: checked
triggers: [{ manual: true }]
steps: [{ id: check, tool: shell, input: { run: make test } }]
`);
  const { id } = await start('checked');
  await visit(page, `/workflow-runs/${id}`);
  await step(page, 'check').getByText(/Waits for a worker, .*: none is running\./).waitFor();
  await step(page, 'check').getByText('fermata worker --allow-task-commands').waitFor();
  await assertAccessibleEverywhere(page, 'workflow-run-no-worker');
  await step(page, 'check').getByRole('link', { name: 'checked: check' }).click();
  await page.locator('[data-waiting]').getByText(/Waits for a worker, .*: none is running\./).waitFor();
  await page.getByText('fermata worker --allow-task-commands').waitFor();
  // A worker with only an agent does not take the command.
  await server.call('POST', '/v1/claims', { worker: 'desk', runners: ['claude'] });
  await visit(page, `/workflow-runs/${id}`);
  await step(page, 'check').getByText(/none of those that are running runs the commands of tasks\./).waitFor();
  await server.call('POST', `/v1/tasks/${id}/cancel`, {});
  assertCalm(page);
});

test('inputs are given by their types', async () => {
  await put(`name: typed
triggers: [{ manual: true }]
inputs:
  count: { type: number, required: true, description: How many }
  loud: { type: boolean, default: false }
  where: { type: string, enum: [here, there] }
  more: { type: object }
steps: [{ id: nap, tool: wait, input: { for: 1s } }]
`);
  await visit(page, '/workflows/typed');
  await page.getByRole('button', { name: 'Run typed' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run typed' });
  await dialog.getByRole('textbox', { name: 'count' }).fill('many');
  await dialog.getByRole('textbox', { name: 'more' }).fill('[1]');
  await dialog.getByRole('button', { name: 'Start the run' }).click();
  await dialog.getByText('This must be a number.').waitFor();
  await dialog.getByText('This must be an object of JSON').waitFor();
  await dialog.getByRole('textbox', { name: 'count' }).fill('2.5');
  await dialog.getByRole('textbox', { name: 'more' }).fill('{"a": 1}');
  await pick(page, 'loud', 'yes');
  await pick(page, 'where', 'there');
  await dialog.getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL(/workflow-runs\/task_/);
  await page.getByText(/It is done\. It took/).waitFor();
  assert.deepEqual((await read(page.url().split('/').at(-1))).inputs, { count: 2.5, loud: true, where: 'there', more: { a: 1 } });
  assertCalm(page);
});

test('an approval is pushed back with words, which the step before gets; then it is given', async () => {
  await put(`name: drafted
triggers: [{ manual: true }]
steps:
  - { id: draft, tool: notify, on_error: continue, input: { title: A draft, body: "{{ feedback ?? 'as it came' }}", channels: [nowhere] } }
  - id: approve
    tool: request_approval
    input: { title: "Send the draft?", action: { tool: send, args: { to: everybody } }, risk: low, timeout: never }
    on_reject: { goto: draft }
    on_resume: { inject: { feedback: "{{ pendingQuestion.comment }}" } }
`);
  const { id } = await start('drafted');
  await visit(page, `/workflow-runs/${id}`);
  await page.getByRole('heading', { name: 'Send the draft?' }).waitFor();
  await page.getByRole('button', { name: 'Add a comment' }).click();
  await page.getByRole('textbox', { name: /comment/i }).fill('Shorter, please.');
  await page.getByRole('button', { name: /^Reject/ }).click();
  await page.locator('#step-draft-2').getByText('Shorter, please.').waitFor();
  await node(page, 'draft').getByText('2 times').waitFor();
  await page.locator('#step-approve-2').getByText('Needs you').waitFor();
  // The comment on the earlier question is not sent with the next answer.
  await page.getByRole('button', { name: 'Add a comment' }).waitFor();
  await page.getByRole('button', { name: /^Approve/ }).click();
  await page.getByText(/It is done\. It took/).waitFor();
  assert.deepEqual((await read(id)).steps.map((each) => each.step), ['draft', 'approve', 'draft', 'approve']);
  assertCalm(page);
});

test('branches of a run ask beside each other, and each goes on with its own answer', async () => {
  await put(`name: two-yeses
triggers: [{ manual: true }]
steps:
  - { id: plan, tool: wait, input: { for: 1s } }
  - { id: legal, tool: request_approval, input: { title: "May we ship?", action: { tool: ship }, risk: low, timeout: never } }
  - { id: where, tool: post_question, suspend: true, needs: [plan], input: { question: "Ship where?", options: [north, south], timeout: never } }
  - { id: pack, tool: wait, input: { for: 1s } }
  - { id: rest, tool: wait, needs: [plan], input: { for: 30d } }
  - { id: ship, tool: wait, needs: [legal, pack], input: { for: 1s } }
`);
  const { id } = await start('two-yeses');
  await visit(page, `/workflow-runs/${id}`);
  const asked = (title) => page.locator('[data-state="blocked"]').getByRole('link', { name: title });
  await asked('May we ship?').waitFor();
  await asked('Ship where?').waitFor();
  await page.getByText('It waits for 2 answers.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await assertAccessibleEverywhere(page, 'workflow-run-branches');
  await asked('Ship where?').click();
  await page.getByRole('radio', { name: 'north' }).click();
  await page.getByRole('button', { name: /^Answer/ }).click();
  await visit(page, `/workflow-runs/${id}`);
  await node(page, 'pack').getByText('Done').waitFor();
  await asked('Ship where?').waitFor({ state: 'detached' });
  await asked('May we ship?').click();
  await page.getByRole('button', { name: /^Approve/ }).click();
  await visit(page, `/workflow-runs/${id}`);
  await node(page, 'ship').getByText('Done').waitFor();
  await node(page, 'rest').getByText('Waits').waitFor();
  assertCalm(page);
});

test('a run that failed says why and what helps, keeps its secret, and goes on when it is tried again', async () => {
  await put(`name: calls
triggers: [{ manual: true }]
steps:
  - { id: call, tool: http, retry: { attempts: 1 }, input: { url: "${address}/small", headers: { Authorization: "Bearer {{ secrets.DEPLOY }}" } } }
`);
  await put(`name: large
triggers: [{ manual: true }]
steps: [{ id: call, tool: http, retry: { attempts: 1 }, input: { url: "${address}/large" } }]
`);
  const { id } = await start('calls');
  await visit(page, `/workflow-runs/${id}`);
  await page.locator('[data-state="failed"]').getByText(/The step call failed: .*503/).waitFor();
  await step(page, 'call').getByText('Input').click();
  await page.getByRole('group', { name: 'Input' }).getByText('[secret DEPLOY]').waitFor();
  assert.ok(!(await page.content()).includes(secret), 'the page has the secret');
  await assertAccessibleEverywhere(page, 'workflow-run-failed-early');
  elsewhere.status = 200;
  await page.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.getByText(/It is done\. It took/).waitFor();

  const large = await start('large');
  await visit(page, `/workflow-runs/${large.id}`);
  await page.locator('[data-state="failed"]').waitFor();
  await step(page, 'call').getByText('What helps:').waitFor();
  assertCalm(page);
});

test('a list of runs is filtered, kept by the address, gone through by keys, and held still while it is read', async () => {
  await put(`name: many
triggers: [{ manual: true }]
inputs: { n: { type: number } }
steps: [{ id: never, condition: "inputs.n > 1000", tool: wait, input: { for: 1h } }]
`);
  for (let n = 0; n < 60; n += 1) await start('many', { n });
  await visit(page, '/workflow-runs');
  await pick(page, 'Workflow', 'many');
  await pick(page, 'State', 'Done');
  await pick(page, 'Trigger', 'By hand');
  const rows = page.locator('[data-run]');
  await until(async () => assert.equal(await rows.count(), 50));
  await rows.first().getByText('n: 59').waitFor();
  await page.reload();
  await until(async () => assert.equal(await rows.count(), 50));
  await page.getByRole('button', { name: 'Show older ones' }).click();
  await until(async () => assert.equal(await rows.count(), 60));

  // A reader is at the third row. New runs wait until the reader asks for them.
  const third = rows.nth(2);
  await press(page, 'j', 'j', 'j');
  await until(async () => assert.ok(await third.evaluate((each) => each.contains(document.activeElement))));
  const read = await third.getAttribute('data-run');
  const { id } = await start('many', { n: 60 });
  await page.getByRole('button', { name: 'Show 1 new run' }).waitFor();
  await settled(page);
  assert.equal(await rows.nth(2).getAttribute('data-run'), read);
  await shoot(page, 'workflow-runs-held');
  await assertAccessible(page, 'a list with a run that waits');
  await page.getByRole('button', { name: 'Show 1 new run' }).click();
  await row(page, id).waitFor();

  await pick(page, 'State', 'Failed');
  await page.getByText('No run fits these filters.').waitFor();
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
  await until(async () => assert.equal(new URL(page.url()).searchParams.get('workflow') ?? '', ''));
  await row(page, id).waitFor();
  await press(page, 'j');
  await until(async () => assert.ok(await page.evaluate(() => 'rowLink' in document.activeElement.dataset)));
  await press(page, 'Enter');
  await page.waitForURL(/workflow-runs\/task_/);
  assertCalm(page);
});

test('fifteen steps and a loop are readable on a phone', async () => {
  await put(train);
  const { id } = await start('release-train');
  const page = await open(browser, `${server.url}/workflow-runs/${id}`, { width: 360 });
  await node(page, 'review').getByText('Needs you').waitFor();
  await assertAccessibleEverywhere(page, 'workflow-run-train');
  await page.setViewportSize({ width: 360, height: 900 });
  // No word of a name is broken, and no name is cut.
  const broken = await page.locator('[data-node]').evaluateAll((nodes) => nodes.flatMap((each) => {
    const range = document.createRange();
    const texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
      const word = texts.currentNode;
      if (!/^[a-z]+_?$/.test(word.data)) continue;
      range.selectNodeContents(word);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word.data);
    }
    return found;
  }));
  assert.deepEqual(broken, []);
  await node(page, 'review').getByRole('button', { name: /build_again/ }).click();
  await until(async () => assert.equal(await page.evaluate(() => document.activeElement.dataset.node), 'build_everything_for_all_platforms'));
  await node(page, 'checkout').getByRole('link', { name: 'checkout' }).click();
  await until(async () => assert.equal(await page.evaluate(() => document.activeElement.id), 'step-checkout-1'));

  await visit(page, '/workflows/release-train');
  await node(page, 'review').waitFor();
  const order = await page.locator('h2').allTextContents();
  assert.deepEqual(order.filter((each) => ['Triggers', 'Runs', 'Steps', 'Definition'].includes(each)), ['Triggers', 'Runs', 'Steps', 'Definition']);
  assertCalm(page);
  await page.context().close();
});

test('a person who answers by keys goes on where the page says what came of it', async () => {
  const { id } = await start('asks', { what: 'the key' });
  await visit(page, `/workflow-runs/${id}`);
  await page.getByRole('heading', { name: 'Is the key right?' }).waitFor();
  await page.getByRole('radio', { name: 'right', exact: true }).press('Space');
  await page.getByRole('button', { name: /^Answer/ }).first().press('Enter');
  await page.getByText(/It is done\. It took/).waitFor();
  await until(async () => assert.equal(await page.evaluate(() => 'waiting' in document.activeElement.dataset), true));
  assertCalm(page);
});

test('a workflow that is switched off says so, and still starts by hand', async () => {
  await put(`name: daily
triggers: [{ schedule: "0 9 * * 1" }, { manual: true }]
steps: [{ id: nap, tool: wait, input: { for: 1s } }]
`);
  await visit(page, '/workflows/daily');
  await page.getByText(/next /).waitFor();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Nothing starts it by itself; by hand it still starts.').waitFor();
  await page.getByText(/next /).waitFor({ state: 'detached' });
  await visit(page, '/workflows');
  await page.locator('[data-workflow="daily"]').getByText('Disabled').waitFor();
  await assertAccessible(page, 'a workflow that is off');
  await page.locator('[data-workflow="daily"]').getByRole('button', { name: 'Run daily' }).click();
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.getByText(/It is done\. It took/).waitFor();
  await page.getByRole('link', { name: 'Workflow: daily' }).click();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText(/next /).waitFor();
  assertCalm(page);
});

test('the pages are in German where the reader is', async () => {
  const context = await newContext(browser, { viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
  const page = await open(browser, `${server.url}/workflows`, { context });
  await page.getByRole('heading', { level: 1, name: 'Abläufe' }).waitFor();
  await page.locator('[data-workflow="daily"]').getByText('Von Hand gestartet').waitFor();
  await assertAccessibleEverywhere(page, 'workflows-de');
  await page.getByRole('link', { name: 'Läufe', exact: true }).click();
  await pick(page, 'Stand', 'Gescheitert');
  const { items: failed } = await server.call('GET', '/v1/workflow-runs?state=failed');
  await row(page, failed[0].id).getByRole('link').click();
  await page.getByText('Er ist gescheitert.').waitFor();
  await page.getByRole('button', { name: 'Noch einmal versuchen' }).waitFor();
  await assertAccessibleEverywhere(page, 'workflow-run-de');
  // The code gives the reason in the reader's language. The server's own words are marked as English.
  await put(`name: impatient
triggers: [{ manual: true }]
inputs: { pause: { type: string, default: soon } }
steps: [{ id: nap, tool: wait, input: { for: "{{ inputs.pause }}" } }]
`);
  const { id } = await start('impatient');
  await visit(page, `/workflow-runs/${id}`);
  const why = step(page, 'nap');
  await why.getByText('Die Eingabe passt nicht zum Werkzeug.').waitFor();
  await why.locator('[lang="en"]', { hasText: 'the input does not fit its schema' }).waitFor();
  await visit(page, '/workflows/release-train');
  await page.getByRole('heading', { name: 'Auslöser' }).waitFor();
  await node(page, 'review').getByText('build_again: zurück zu build_everything_for_all_platforms').waitFor();
  await assertAccessibleEverywhere(page, 'workflow-de');
  await visit(page, '/workflow-tools');
  await page.getByRole('heading', { name: 'Eingebaut' }).waitFor();
  await assertAccessibleEverywhere(page, 'workflow-tools-de');
  assertCalm(page);
  await context.close();
});

test('a planned run says for when it was planned', async () => {
  const planned = await runOf('planned', patient(180));
  await visit(page, `/workflow-runs/${planned.id}`);
  await why(page).getByText(/It was planned for/).waitFor();
  // The time is in the reader's format, not in the server's.
  assert.doesNotMatch(await page.locator('h1').textContent(), /T\d\d:/);
  await visit(page, '/workflow-runs?trigger=schedule');
  await row(page, planned.id).getByText(/^Schedule · /).waitFor();
  assertCalm(page);
});
