import assert from 'node:assert/strict';
import { after, assertCalm, before, launch, open, press, shoot, startServer, test, until, visit } from './harness.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

let server, browser, page;
before(async () => {
  server = await startServer();
  browser = await launch();
  page = await open(browser, `${server.url}/workflows`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const put = (source) => server.call('PUT', `/v1/workflows/${/^name: (\S+)/m.exec(source)[1]}`, { source });
const start = (name, inputs = {}) => server.call('POST', `/v1/workflows/${name}/runs`, { inputs });
const read = (id) => server.call('GET', `/v1/workflow-runs/${id}`);
const step = (page, name) => page.locator(`[data-step="${name}"]`);
const node = (page, name) => page.locator(`[data-node="${name}"]`);


/** Replaces the content of a code field through the clipboard, because people often paste a whole file. */
async function paste(page, field, text) {
  await field.focus();
  await press(page, 'Control+A');
  await field.evaluate((content, given) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', given);
    content.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

const release = `name: release
description: Asks whether to ship, ships, and looks back when it must.
triggers:
  - manual: true
  - schedule: "0 6 * * 1-5"
    timezone: Europe/Berlin
  - webhook: true
inputs:
  version: { type: string, required: true, description: What is shipped }
  channel: { type: string, enum: [stable, beta], default: stable }
  dry_run: { type: boolean, default: true }
  hosts: { type: array, default: [a, b] }
steps:
  - id: prepare
    tool: wait
    input: { for: 1s }
    output: prepared
  - id: ask
    tool: post_question
    input:
      question: "Ship {{ inputs.version }} to {{ inputs.channel }}?"
      options: [ship, look_again, stop]
      timeoutHours: 24
      timeoutAction: skip
    suspend: true
    on_resume:
      inject: { answer: "{{ pendingQuestion.answer }}" }
      goto: { ship: publish, look_again: prepare, stop: tidy }
    on_timeout:
      tool: notify
      input: { title: Nobody answered in time, channels: [log] }
  - id: publish
    tool: wait
    input: { for: 1s }
  - id: big_release
    condition: inputs.version == "9.0"
    tool: wait
    input: { for: 1s }
  - id: tidy
    tool: wait
    input: { for: 1s }
`;

/** A workflow whose steps fail: nothing listens at its addresses, and “soon” is not a duration. */
const nap = `name: nap
triggers:
  - manual: true
inputs:
  pause: { type: string, default: soon }
steps:
  - id: lists
    tool: http
    foreach: "{{ ['a', 'b', 'c'] }}"
    input: { url: "http://127.0.0.1:9/{{ item }}" }
    retry: { attempts: 1 }
    on_error: continue
  - id: sleep
    tool: wait
    input: { for: "{{ inputs.pause }}" }
  - id: wake
    tool: wait
    input: { for: 1s }
`;

test('nothing is there at first, and the page says how to begin', async () => {
  await visit(page, '/workflows');
  await page.getByText('There is no workflow yet.').waitFor();
  await page.getByText('fermata workflow put').waitFor();
  await assertAccessible(page, 'no workflows');
  await page.getByRole('link', { name: 'New workflow' }).click();
  const source = page.getByRole('textbox', { name: 'Definition as YAML' });
  await paste(page, source, 'name: broken\ntriggers:\n  - manual: true\nsteps:\n  - id: one\n    tool: no_such_tool\n  - id: one\n    tool: wait\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-problem="6"]').waitFor();
  await shoot(page, 'workflow-editor-problems');
  await assertAccessible(page, 'problems of a definition');
  await page.locator('[data-problem="6"]').getByRole('button', { name: 'Line 6' }).click();
  await page.locator('.cm-activeLineGutter').getByText('6', { exact: true }).waitFor();
  await paste(page, source, release);
  await page.getByRole('button', { name: 'Validate' }).click();
  await node(page, 'publish').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'release' }).waitFor();
  assert.equal((await server.call('GET', '/v1/workflows/release')).source, release);
  assertCalm(page);
});

test('a definition is completed, marked where it is wrong, and tested before it is saved', async () => {
  await visit(page, '/workflows');
  await page.getByRole('link', { name: 'New workflow' }).click();
  const source = page.getByRole('textbox', { name: 'Definition as YAML' });
  await paste(page, source, 'name: fresh\ntriggers:\n  - manual: true\ninputs:\n  where: { type: string, required: true }\nsteps:\n  - id: ask\n    tool: post_question\n    suspend: true\n    input: { question: "Ship to {{ inputs.where }}?", options: [now, later] }\n  - id: tell');
  await press(page, 'Control+End');
  await press(page, 'Enter');
  await page.keyboard.type('to');
  const words = page.getByRole('listbox');
  await words.getByRole('option', { name: 'tool' }).click();
  await page.keyboard.type('wa');
  await words.getByRole('option', { name: /^wait/ }).waitFor();
  await shoot(page, 'workflow-editor-words');
  await assertAccessible(page, 'words of a definition');
  await words.getByRole('option', { name: /^wait/ }).click();
  await press(page, 'Enter');
  await page.keyboard.type('condition: steps.');
  await words.getByRole('option', { name: 'ask' }).click();
  await page.keyboard.type('.answer == "soon');
  // The place is marked while the text is typed, without a press of a button.
  await page.locator('.cm-lintRange-error').first().waitFor();
  await page.locator('.cm-lint-marker-error').first().waitFor();
  await page.keyboard.type('"');
  await press(page, 'Enter');
  await page.keyboard.type('input: { for: 3d }');
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
  await node(page, 'tell').waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  const panel = page.locator('[data-test]');
  const script = panel.getByRole('textbox', { name: 'Answers as YAML' });
  await panel.getByRole('button', { name: 'Run with these answers' }).click();
  await panel.getByText('The run ended as expected.').waitFor();
  await panel.locator('[data-step="tell"][data-stand="skipped"]').waitFor();
  await script.getByText('where: made up').waitFor();
  await assertAccessibleEverywhere(page, 'a test of a definition');
  await paste(page, script, 'inputs: { where: here }\nanswers: { ask: later }\nexpect: { state: done, output: { ask: { answer: now } } }\n');
  await panel.getByRole('button', { name: 'Run with these answers' }).click();
  await panel.getByText(/the output of the step ask is/).waitFor();
  await shoot(page, 'workflow-test');
  await paste(page, script, 'answers: { nobody: x }');
  await panel.getByRole('button', { name: 'Run with these answers' }).click();
  await panel.getByText(/is no step of the workflow/).first().waitFor();
  assert.deepEqual((await server.call('GET', '/v1/workflow-runs?workflow=fresh')).items, []);
  assertCalm(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
});

test('a run asks in its page, goes back, and is done', async () => {
  await visit(page, '/workflows');
  const row = page.locator('[data-workflow="release"]');
  await row.getByText('On schedule: 0 6 * * 1-5 (Europe/Berlin)').waitFor();
  await row.getByText(/next /).waitFor();
  await row.getByRole('button', { name: 'Run release' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run release' });
  await dialog.getByRole('button', { name: 'Start the run' }).click();
  await dialog.getByText('This is needed.').waitFor();
  await assertAccessible(page, 'dialog of a run');
  await shoot(page, 'workflow-run-dialog');
  await dialog.getByRole('textbox', { name: 'version' }).fill('2.4');
  await dialog.getByRole('textbox', { name: 'hosts' }).fill('["a"]');
  await dialog.getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL(/workflow-runs\/task_/);
  const id = page.url().split('/').at(-1);
  // The run waits for the question, and the page shows that by itself.
  await page.getByRole('heading', { name: 'Ship 2.4 to stable?' }).waitFor();
  await node(page, 'ask').getByText('Needs you').waitFor();
  await page.getByText(/It has waited for a person for/).waitFor();
  await page.getByText('local started it by hand.').or(page.getByText(/started it by hand/)).waitFor();
  await assertAccessibleEverywhere(page, 'workflow-run');
  const answer = async (option) => {
    await page.getByRole('radio', { name: option }).check();
    await page.getByRole('button', { name: /^(Answer|Send)/ }).first().click();
  };
  await answer('look_again');
  await page.locator('#step-prepare-2').getByText('Done').waitFor();
  await page.locator('#step-ask-2').getByText('Needs you').waitFor();
  await node(page, 'prepare').getByText('2 times').waitFor();
  await answer('ship');
  await page.getByText(/It is done\. It took/).waitFor();
  await node(page, 'big_release').getByText('Skipped').waitFor();
  const run = await read(id);
  assert.equal(run.state, 'done');
  assert.deepEqual(run.inputs, { version: '2.4', channel: 'stable', dry_run: true, hosts: ['a'] });
  await page.getByRole('link', { name: 'Task of this run' }).click();
  await page.getByRole('link', { name: /Show the run of the workflow/ }).click();
  await page.waitForURL(/workflow-runs/);
  assertCalm(page);
});

test('a step that failed is tried again with another input; lists are filtered in the address', async () => {
  await put(nap);
  const { id } = await start('nap');
  await visit(page, `/workflow-runs/${id}`);
  await step(page, 'sleep').getByText('Failed').waitFor();
  await step(page, 'lists').getByText('0 of 3 items done, 3 failed').waitFor();
  await shoot(page, 'workflow-run-failed');
  await assertAccessible(page, 'a run that failed');
  await page.getByRole('button', { name: 'Try again with other input' }).click();
  await page.getByRole('textbox', { name: 'Input, as JSON' }).fill('{"for": "1s"}');
  await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
  await page.getByText(/It is done\. It took/).waitFor();
  const other = await start('nap', { pause: '1h' });
  await visit(page, '/workflow-runs');
  await page.locator(`[data-run="${id}"]`).waitFor();
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Under way' }).click();
  await page.locator(`[data-run="${id}"]`).waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).searchParams.get('state'), 'working');
  await page.reload();
  await page.locator(`[data-run="${other.id}"]`).getByText('Put off').waitFor();
  await page.locator(`[data-run="${other.id}"]`).getByRole('link').click();
  await page.getByText('It waits until').waitFor();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await page.getByRole('button', { name: 'Cancel the task' }).click();
  await page.getByText('It was cancelled.').waitFor();
  assert.equal((await read(other.id)).state, 'cancelled');
  assertCalm(page);
});

/** A workflow that fails at once and handles the failure. */
const handled = `name: handled
triggers:
  - manual: true
inputs:
  pause: { type: string, default: soon }
steps:
  - { id: nap, tool: wait, input: { for: "{{ inputs.pause }}" } }
on_success:
  - { id: cheer, tool: wait, input: { for: 1s } }
on_failure:
  - id: what_now
    tool: post_question
    input: { question: "{{ failure.step }} failed. What now?", options: [leave_it, mend_it], timeout: never }
    suspend: true
finally:
  - { id: tidy, tool: wait, input: { for: 1s } }
`;

test('what is done at the end of a run stands apart, and comes when it fails', async () => {
  await put(handled);
  await visit(page, '/workflows/handled');
  const graph = page.getByRole('list', { name: 'Steps of handled and what leads where' });
  assert.deepEqual(
    await graph.locator('[data-node], [data-phase]').evaluateAll((all) => all.map((each) => each.dataset.node ?? each.dataset.phase)),
    ['start', 'nap', 'on_success', 'cheer', 'on_failure', 'what_now', 'finally', 'tidy', 'end'],
  );
  await graph.getByText('When it failed or was set aside').waitFor();
  await assertAccessibleEverywhere(page, 'workflow-what-is-done-at-the-end');
  const { id } = await start('handled');
  await visit(page, `/workflow-runs/${id}`);
  await page.getByRole('heading', { name: 'nap failed. What now?' }).waitFor();
  await page.getByRole('radio', { name: 'leave_it' }).check();
  await page.getByRole('button', { name: /^(Answer|Send)/ }).first().click();
  await node(page, 'tidy').getByText('Done').waitFor();
  await until(async () => assert.equal((await read(id)).state, 'failed'));
  await page.getByRole('button', { name: 'Try again with other input' }).click();
  await page.getByRole('dialog').getByText('nap').first().waitFor();
  await page.getByRole('textbox', { name: 'Input, as JSON' }).fill('{"for": "1s"}');
  await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
  await page.getByText(/It is done\. It took/).waitFor();
  await node(page, 'cheer').getByText('Done').waitFor();
  assertCalm(page);
});

/** A workflow that asks whether its draft is good. */
const drafting = `name: drafting
triggers:
  - manual: true
steps:
  - { id: draft, tool: wait, input: { for: 1s } }
  - { id: good, tool: post_question, suspend: true, input: { question: "Is it good?", options: [good, bad], timeout: never } }
`;

test('a run is sent back to a step with feedback, and goes on with the newest definition', async () => {
  await put(drafting);
  const { id } = await start('drafting');
  await visit(page, `/workflow-runs/${id}`);
  await page.getByRole('heading', { name: 'Is it good?' }).waitFor();
  await page.getByRole('button', { name: 'Go back to a step' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Feedback' }).waitFor();
  assert.deepEqual(await dialog.getByRole('combobox', { name: 'Step' }).locator('option').allTextContents(), ['draft', 'good']);
  await assertAccessibleEverywhere(page, 'workflow-run-goes-back');
  await dialog.getByRole('combobox', { name: 'Step' }).selectOption('draft');
  await dialog.getByRole('textbox', { name: 'Feedback' }).fill('Shorter, please.');
  await dialog.getByRole('button', { name: 'Go back' }).click();
  await dialog.waitFor({ state: 'detached' });
  await until(async () => assert.deepEqual((await read(id)).steps.map((one) => `${one.step}/${one.occurrence} ${one.state}`), ['draft/1 done', 'good/1 cancelled', 'draft/2 done', 'good/2 waiting']));
  await put(drafting.replace('[good, bad]', '[good, bad, ugly]'));
  await page.getByRole('button', { name: 'Use the newest definition' }).click();
  await page.getByText('steps.good is another one there').first().waitFor();
  await put(`${drafting}  - { id: publish, tool: wait, input: { for: 1s } }\n`);
  await page.getByRole('button', { name: 'Use the newest definition' }).click();
  await page.getByText('The run uses the newest definition.').waitFor();
  await page.getByRole('radio', { name: 'good' }).check();
  await page.getByRole('button', { name: /^(Answer|Send)/ }).first().click();
  await node(page, 'publish').getByText('Done').waitFor();
  assertCalm(page);
});

test('a workflow is switched off and changed, and its webhook gets a secret', async () => {
  await visit(page, '/workflows/release');
  await page.getByRole('button', { name: 'Disable' }).click();
  await until(async () => assert.equal((await server.call('GET', '/v1/workflows/release')).enabled, false));
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await page.getByRole('button', { name: 'New secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await press(page, 'Escape');
  await page.getByText('Requests are signed with its secret.').waitFor();
  await put('name: open-door\ntriggers: [{ webhook: true, auth: none }]\nsteps: [{ id: nap, tool: wait, input: { for: 1s } }]\n');
  await visit(page, '/workflows/open-door');
  await page.getByText('Requests are not signed: anybody who knows the address can start runs.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'New secret' }).count(), 0);
  await visit(page, '/workflows/release');
  await page.getByRole('link', { name: 'Edit' }).click();
  const source = page.getByRole('textbox', { name: 'Definition as YAML' });
  await paste(page, source, release.replace('Asks whether', 'Asks first whether'));
  await page.getByRole('link', { name: 'Runs', exact: true }).or(page.getByRole('link', { name: 'Inbox' })).first().click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  // Until the page of the workflow is there, the same words are in the source as well.
  await source.waitFor({ state: 'detached' });
  await page.getByText('Asks first whether to ship, ships, and looks back when it must.', { exact: true }).waitFor();
  await visit(page, '/workflows/nap');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the workflow' }).click();
  await page.waitForURL(/workflows$/);
  await page.locator('[data-workflow="nap"]').waitFor({ state: 'detached' });
  assertCalm(page);
});

test('tools are defined, changed and removed', async () => {
  await visit(page, '/workflow-tools');
  await page.getByText('Nothing is defined yet.').waitFor();
  await page.getByRole('button', { name: 'Add a tool' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a tool' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('run_checks');
  await dialog.getByRole('radio', { name: 'Command' }).check();
  await dialog.getByRole('textbox', { name: 'Program and arguments' }).fill('make\ntest');
  await shoot(page, 'workflow-tool-dialog');
  await assertAccessible(page, 'dialog of a tool');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-tool="run_checks"]').waitFor();
  assert.deepEqual((await server.call('GET', '/v1/tools/run_checks')).command, ['make', 'test']);
  await server.call('PUT', '/v1/tools/tracker', { server: { url: 'http://127.0.0.1:9/mcp' }, description: 'Issues of the tracker' });
  await page.getByText('Its tools are not known').waitFor();
  const asked = async () => (await server.call('GET', '/v1/tools/tracker')).listing.at;
  const first = await asked();
  await page.getByRole('button', { name: 'Ask again: tracker' }).click();
  await until(async () => assert.notEqual(await asked(), first));
  await assertAccessibleEverywhere(page, 'workflow-tools');
  await page.getByRole('button', { name: 'Remove: run_checks' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.locator('[data-tool="run_checks"]').waitFor({ state: 'detached' });
  assertCalm(page);
});

test('the pages are sound at every width, in both schemes', async () => {
  await visit(page, '/workflows');
  await page.locator('[data-workflow]').first().waitFor();
  await assertAccessibleEverywhere(page, 'workflows');
  await visit(page, '/workflows/release');
  await page.locator('[data-run]').first().waitFor();
  await assertAccessibleEverywhere(page, 'workflow');
  await visit(page, '/workflow-runs');
  await page.locator('[data-run]').first().waitFor();
  await assertAccessibleEverywhere(page, 'workflow-runs');
  assertCalm(page);
});
