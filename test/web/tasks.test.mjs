import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, approval, assertCalm, before, focused, launch, open, press, settled, shoot, startServer, test, until, visit, yesNo } from './harness.mjs';
import { assertAccessible, assertAccessibleEverywhere } from './accessibility.mjs';

/** All tests share one page. The tasks of each test are in a project of their own. */
let server, browser, page;
before(async () => {
  server = await startServer();
  browser = await launch();
  page = await open(browser, `${server.url}/tasks`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Creates a task. Only a worker with its runner claims it, by default none. */
const make = (title, more = {}) => server.call('POST', '/v1/tasks', { title, runner: 'nobody', ...more });
/** Returns a segment of a control. Its radio button is out of sight. */
const segment = (page, name) => page.locator('.mantine-SegmentedControl-label').filter({ hasText: new RegExp(`^${name}`) });
const read = (id) => server.call('GET', `/v1/tasks/${id}`);
const card = (page, id) => page.locator(`[data-task="${id}"]`);
let runners = 0;

/** Creates a task and claims it as a worker of its own. Returns functions that report as this worker. */
async function working(title, more = {}) {
  const runner = `r${++runners}`;
  const task = await make(title, { ...more, runner });
  const { run } = await server.call('POST', '/v1/claims', { worker: `worker-${runner}`, runners: [runner], lease_seconds: 3600 });
  const say = (verb, body) => server.call('POST', `/v1/runs/${run.id}/${verb}`, { token: run.token, ...body });
  return {
    task, run, runner,
    log: (text) => say('log', { text }),
    beat: (more) => say('heartbeat', { lease_seconds: 3600, ...more }),
    progress: (message, more = {}) => say('progress', { message, ...more }),
    ask: (question) => say('finish', { result: 'needs_input', summary: 'Two ways are open.', question: { timeout: '30m', ...question } }),
    finish: (result, summary) => say('finish', { result, summary }),
  };
}

test('tasks are a list, a board and a tree of one query, whose filters stand in the address', async () => {
  const parent = await make('Ship the release', { project: 'views', labels: ['release'] });
  const child = await make('Write the changelog', { project: 'views', parent_id: parent.id });
  await make('Tag it', { project: 'views', parent_id: parent.id, blocked_by: [child.id] });
  const busy = await working('Build it', { project: 'views' });
  await visit(page, '/tasks?project=views');
  await page.getByText('4 tasks').waitFor();
  await page.getByRole('searchbox').fill('changelog');
  await card(page, parent.id).waitFor({ state: 'detached' });
  await until(() => assert.equal(new URL(page.url()).searchParams.get('q'), 'changelog'));
  await page.reload();
  await card(page, child.id).waitFor();
  await until(async () => assert.equal(await page.locator('[data-task]').count(), 1));
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
  await segment(page, 'Board').click();
  await until(async () => assert.equal(await page.locator('section h2').count(), 4));
  const inColumn = (name, id) => page.getByRole('region', { name, exact: true }).locator(`[data-task="${id}"]`);
  await inColumn('Working', busy.task.id).waitFor();
  await inColumn('Ready', parent.id).waitFor();
  await press(page, 'v', 't');
  await page.waitForFunction(() => location.search.includes('view=tree'));
  const order = await until(async () => {
    const ids = await page.locator('[data-task]').evaluateAll((all) => all.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((each) => each.dataset.task));
    assert.ok(ids.includes(child.id));
    return ids;
  });
  assert.ok(order.indexOf(parent.id) < order.indexOf(child.id));
  await page.getByRole('button', { name: 'Fold “Ship the release”' }).click();
  await card(page, child.id).waitFor({ state: 'detached' });
  assertCalm(page);
});

test('what is read keeps its place while tasks come and go', async () => {
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push((await make(`Steady ${n}`, { project: 'steady' })).id);
  await visit(page, '/tasks?project=steady');
  await card(page, ids[2]).getByRole('link').focus();
  await settled(page);
  const top = async () => (await card(page, ids[2]).boundingBox()).y;
  const before = await top();
  const late = await make('Came later', { project: 'steady' });
  await server.call('POST', `/v1/tasks/${ids[4]}/cancel`, {});
  await page.getByRole('button', { name: 'Show 1 new task' }).waitFor();
  await card(page, ids[4]).getByText('Cancelled').waitFor();
  await settled(page);
  assert.equal(await top(), before);
  assert.equal(await card(page, late.id).count(), 0);
  await page.getByRole('button', { name: 'Show 1 new task' }).click();
  await card(page, late.id).waitFor();
  // The reader does not read the list, so a new task is shown at once.
  await page.getByRole('heading', { name: 'Tasks' }).click();
  const next = await make('Came last', { project: 'steady' });
  await card(page, next.id).waitFor();
  assertCalm(page);
});

test('the board is worked with keys alone: columns, menu, verbs', async () => {
  const first = await make('Keys one', { project: 'keys' });
  const busy = await working('Keys two', { project: 'keys' });
  await visit(page, '/tasks?project=keys&view=board');
  await card(page, busy.task.id).waitFor();
  await card(page, first.id).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.closest('[data-task]')?.dataset.task);
  await press(page, 'j');
  await until(async () => assert.equal(await focused(), first.id));
  await press(page, 'ArrowRight');
  await until(async () => assert.equal(await focused(), busy.task.id));
  await press(page, 'h');
  await until(async () => assert.equal(await focused(), first.id));
  await press(page, '.');
  await page.getByRole('menuitem', { name: 'Put off' }).waitFor();
  for (const name of ['Pause and take over', 'Put off']) {
    await press(page, 'ArrowDown');
    await until(async () => assert.equal(await page.evaluate(() => document.activeElement.textContent), name));
  }
  await press(page, 'Enter');
  const dialog = page.getByRole('dialog', { name: /Put off/ });
  await dialog.waitFor();
  await until(async () => assert.ok(await dialog.evaluate((each) => each.contains(document.activeElement))));
  await press(page, 'Enter');
  await until(async () => assert.equal((await read(first.id)).state, 'deferred'));
  await card(page, first.id).getByText('Put off').waitFor();
  assertCalm(page);
});

test('on a phone every column of the board is one press away', async () => {
  const busy = await working('Phone two', { project: 'phone' });
  const ready = await make('Phone one', { project: 'phone' });
  const page = await open(browser, `${server.url}/tasks?project=phone&view=board`, { width: 360, height: 740 });
  await card(page, busy.task.id).waitFor();
  for (const [name, id] of [['Ready', ready.id], ['Working', busy.task.id]]) {
    await segment(page, name).click();
    await card(page, id).waitFor();
  }
  for (const name of ['Needs you', 'Done']) {
    await segment(page, name).click();
    await page.getByText('Nothing here.').waitFor();
  }
  assertCalm(page);
  await page.context().close();
});

test('a task page says who is waited for, and the question is answered in its thread', async () => {
  const { task, ask, log } = await working('Fix the login', { project: 'page', body: 'It **loops**.' });
  await log('looking\n');
  await ask({ type: 'blocking', title: 'Which way?', items: [{ key: 'way', prompt: 'Which way?', response_type: 'choice', options: ['lax', 'page'] }], on_timeout: 'fail' });
  await visit(page, `/tasks/${task.id}`);
  await page.getByText(/^Waits for anyone who may answer, since .*; if nobody answers by .*, the task fails\.$/).waitFor();
  // A key that decides does nothing while the focus is outside the question.
  await page.getByRole('heading', { name: 'Which way?' }).waitFor();
  await press(page, '1');
  await settled(page);
  assert.equal((await read(task.id)).state, 'awaiting_input');
  const keys = page.locator('[id^=question-] kbd');
  assert.equal(await keys.count(), 0);
  await press(page, 'o');
  await until(async () => assert.match(await page.evaluate(() => document.activeElement.id), /^question-/));
  await keys.first().waitFor();
  await press(page, '2');
  await until(async () => assert.equal((await read(task.id)).state, 'input_received'));
  await page.getByText(/waits for a free worker.*it goes before all other tasks/).waitFor();
  await page.getByText('You answered: page').waitFor();
  assertCalm(page);
});

test('a message interrupts the agent, and what was typed survives a reload', async () => {
  const { task } = await working('Long work', { project: 'say' });
  await visit(page, `/tasks/${task.id}`);
  const box = page.getByRole('textbox', { name: 'Message to the agent' });
  await box.waitFor();
  await press(page, 'm');
  await focused(box);
  await page.keyboard.type('stop, <b>wrong</b> branch');
  await page.reload();
  await until(async () => assert.equal(await box.inputValue(), 'stop, <b>wrong</b> branch'));
  await box.press('Control+Enter');
  await page.getByRole('list', { name: 'Thread' }).getByText('stop, <b>wrong</b> branch').waitFor();
  await until(async () => assert.equal(await box.inputValue(), ''));
  assert.equal((await read(task.id)).unread, 1);
  await page.locator('[data-receipt=waits]').waitFor();
  assertCalm(page);
});

test('a message to a task that has ended says who reads it', async () => {
  const { task, finish } = await working('Short work', { project: 'say' });
  await finish('completed', 'Done.');
  await server.call('POST', `/v1/tasks/${task.id}/messages`, { body: 'one more thing' });
  await visit(page, `/tasks/${task.id}`);
  await page.locator('[data-receipt=ended]').getByText('reopen', { exact: false }).waitFor();
  assertCalm(page);
});

test('the log follows, stops when somebody scrolls up, and obeys no escape', async () => {
  const { task, log, finish } = await working('Noisy', { project: 'log' });
  await log(Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join(''));
  await visit(page, `/tasks/${task.id}?part=log`);
  const box = page.getByRole('log');
  const fromEnd = () => box.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await box.getByText('line 499').waitFor();
  await until(async () => assert.ok((await fromEnd()) < 24));
  await log('\u001b[2J\u001b[31mred\u001b[0m \u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007 <img src=x onerror=alert(1)>\n');
  await box.getByText('<img src=x onerror=alert(1)>').waitFor();
  assert.equal(await box.locator('a, img').count(), 0);
  await until(async () => assert.ok((await fromEnd()) < 24));
  await box.getByText('line 10', { exact: false }).first().waitFor({ state: 'attached' });
  await box.hover();
  await page.mouse.wheel(0, -2000);
  await page.getByRole('button', { name: 'Follow again' }).waitFor();
  await settled(page);
  const at = await box.evaluate((element) => element.scrollTop);
  await log('after that\n');
  await box.getByText('after that').waitFor({ state: 'attached' });
  await settled(page);
  assert.equal(await box.evaluate((element) => element.scrollTop), at);
  await press(page, 'f');
  await until(async () => assert.ok((await fromEnd()) < 24));
  await page.getByLabel('Show control characters').check();
  await box.getByText('␛[2J').waitFor();
  await finish('completed', 'Done with it.');
  await page.getByText('The log ends here.').waitFor();
  assertCalm(page);
});

test('a long thread shows its end, and what was before on demand', async () => {
  const { task } = await working('Talk', { project: 'long' });
  for (let n = 0; n < 120; n++) await server.call('POST', `/v1/tasks/${task.id}/messages`, { body: `message ${n}` });
  await visit(page, `/tasks/${task.id}`);
  const thread = page.getByRole('list', { name: 'Thread' });
  await thread.getByText('message 119', { exact: true }).waitFor();
  assert.equal(await thread.getByText('message 0', { exact: true }).count(), 0);
  const earlier = page.getByRole('button', { name: 'Show earlier' });
  const begin = page.getByText('This is where it began.');
  do {
    await settled(page);
    await earlier.or(begin).first().waitFor();
    if (await earlier.count()) await earlier.click();
  } while (!(await begin.count()));
  const shown = await thread.locator('li').allInnerTexts();
  const numbers = shown.map((text) => /message (\d+)/.exec(text)).filter(Boolean).map((found) => Number(found[1]));
  assert.deepEqual(numbers, Array.from({ length: 120 }, (_, n) => n));
  assertCalm(page);
});

test('verbs: priority, labels, put off, cancel with a reason, reopen', async () => {
  const task = await make('Verbs', { project: 'verbs' });
  await visit(page, `/tasks/${task.id}`);
  await page.getByRole('button', { name: 'Set the priority' }).click();
  await page.getByRole('radio', { name: 'Highest' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await until(async () => assert.equal((await read(task.id)).priority, 0));
  await page.getByRole('button', { name: 'Set the labels' }).click();
  await page.getByRole('dialog').locator('input:not([type=hidden])').fill('<script>');
  await page.getByRole('dialog').locator('input:not([type=hidden])').press('Enter');
  await page.getByRole('button', { name: 'Save' }).click();
  await until(async () => assert.deepEqual((await read(task.id)).labels, ['<script>']));
  await page.getByRole('button', { name: 'Put off' }).click();
  await page.getByRole('button', { name: 'Until somebody reopens it' }).click();
  await page.getByText('Put off until somebody reopens it.').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByLabel(/^Why\?/).fill('not needed');
  await page.getByRole('button', { name: 'Cancel the task' }).click();
  await page.getByText(/^Cancelled .*: not needed; nobody is waited for/).waitFor();
  await page.getByRole('button', { name: 'Reopen', exact: true }).click();
  // The next run can read why the task was cancelled.
  await until(async () => assert.equal((await read(task.id)).state, 'input_received'));
  assertCalm(page);
});

test('an agent is paused, and its task handed back with what was done', async () => {
  const busy = await working('Halted', { project: 'halt' });
  await busy.beat({ session: { id: 's-1', runner: 'claude', dir: '/src/shop', worker: 'desk', command: 'claude --resume s-1' } });
  await visit(page, `/tasks/${busy.task.id}`);
  await page.getByRole('button', { name: 'Pause and take over' }).click();
  await page.locator('[data-take-over]').getByText('Open its session by hand after that, at the worker desk:').waitFor();
  await page.locator('[data-take-over]').getByText('cd /src/shop && claude --resume s-1', { exact: true }).waitFor();
  await page.locator('[data-take-over]').getByText('Messages wait until you hand the task back.').waitFor();
  assert.equal((await read(busy.task.id)).reason, 'paused');
  await assert.rejects(busy.finish('completed', 'Done anyway.'), /stale_run/);
  await page.getByRole('button', { name: 'Hand back to the agent' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hand back “Halted”' });
  await dialog.getByLabel('What you did').fill('I fixed the tests.');
  await shoot(page, 'task-hand-back');
  await assertAccessible(page, 'dialog of handing back');
  await dialog.getByRole('button', { name: 'Hand back to the agent' }).click();
  await page.getByText('I fixed the tests.').waitFor();
  const { run, context } = await server.call('POST', '/v1/claims', { worker: 'w', runners: [busy.runner] });
  assert.equal(run.task_id, busy.task.id);
  assert.deepEqual(context.messages.map(({ body }) => body), ['I fixed the tests.']);
  assertCalm(page);
});

test('an agent that asked is told to decide itself', async () => {
  const busy = await working('Undecided', { project: 'decide' });
  await busy.ask({ question: 'Which colour?', options: ['green', 'red'] });
  await visit(page, `/tasks/${busy.task.id}`);
  await page.getByRole('button', { name: 'Go on without an answer' }).click();
  const dialog = page.getByRole('dialog', { name: /^Go on without an answer/ });
  await dialog.getByLabel(/^A word to the agent/).fill('whatever is cheap');
  await dialog.getByRole('button', { name: 'Go on without an answer' }).click();
  await until(async () => assert.equal((await read(busy.task.id)).state, 'input_received'));
  const [question] = (await server.call('GET', `/v1/tasks/${busy.task.id}/questions`)).items;
  assert.equal(question.resolution.decide_yourself, true);
  await page.getByText('whatever is cheap').first().waitFor();
  assertCalm(page);
});

test('the form makes a task, and the command beside it makes the same', async () => {
  await visit(page, '/tasks/new');
  await page.getByRole('button', { name: 'Make the task' }).click();
  await page.getByText('Say what is to be done.').waitFor();
  await page.getByLabel('Title').fill(`It's "$HOME" & 'more' \`id\``);
  await page.getByLabel('Description').fill('@not a file\n- $(touch /tmp/never)\n');
  await page.getByLabel('Project').fill('form');
  await page.getByLabel('Agent').fill('code');
  await page.getByLabel('Priority').selectOption('High');
  await page.getByRole('combobox', { name: 'Labels' }).fill('two words');
  await page.getByRole('combobox', { name: 'Labels' }).press('Enter');
  await page.getByRole('button', { name: 'More fields' }).click();
  await page.getByLabel('For the runner (JSON)').fill('{"command": ["make", "it\'s"]}');
  await page.getByLabel('Put off until').fill('2030-01-31T09:30');
  const command = await page.locator('[data-command]').innerText();
  await page.getByRole('button', { name: 'Make the task' }).click();
  await page.getByRole('heading', { name: /^It's/ }).waitFor();
  const made = await read(new URL(page.url()).pathname.split('/').at(-1));
  const said = execFileSync('sh', ['-c', `fermata() { "$FERMATA_BINARY" "$@"; }; ${command}`], { encoding: 'utf8', env: { ...process.env, FERMATA_URL: server.url } });
  const again = await read(said.trim());
  const { id: _, created_at: _1, updated_at: _2, ...one } = made;
  const { id: _3, created_at: _4, updated_at: _5, ...other } = again;
  assert.deepEqual(other, one);
  assertCalm(page);
});

test('600 tasks scroll to their end, and only those in sight are drawn', async () => {
  const titles = Array.from({ length: 600 }, (_, n) => `Many ${n}`);
  while (titles.length > 0) await Promise.all(titles.splice(0, 50).map((title) => make(title, { project: 'many' })));
  await visit(page, '/tasks?project=many');
  await page.getByText('600 tasks').waitFor();
  const seen = new Set();
  await until(async () => {
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    const drawn = await page.locator('[data-task]').evaluateAll((all) => all.map((each) => each.dataset.task));
    assert.ok(drawn.length < 60, `${drawn.length} are drawn`);
    drawn.forEach((id) => seen.add(id));
    assert.ok(await page.locator('li[aria-posinset="600"]').count());
  });
  await visit(page, '/tasks?project=many&view=board');
  await page.locator('[data-task]').first().waitFor();
  assert.ok((await page.locator('[data-task]').count()) < 60);
  assertCalm(page);
});

test('every page of tasks is sound at every width and in both schemes', async () => {
  const parent = await make('Sound: <script>alert(1)</script> ' + 'long'.repeat(30), { project: 'sound', labels: ['a label'], body: '# Hi\n\n| a | b |\n|---|---|\n| 1 | 2 |' });
  const done = await working('Ended one', { project: 'sound', parent_id: parent.id });
  await done.log('\u001b[32mgreen\u001b[0m \u001b[90mgrey\u001b[0m \u001b[2Jx\n');
  await done.progress('Half of it', { step: 'Reading', current: 1, total: 2 });
  await done.finish('failed', 'No room.');
  const asks = await working('Asks for it', { project: 'sound', parent_id: parent.id, agent: 'code' });
  await asks.progress('Looked', { current: 3, total: 4 });
  await asks.ask(approval('Run it?', { tool: 'shell', command: 'make deploy' }, { risk: 'high' }));
  await server.ask(yesNo('Something else?'));
  const places = {
    list: '/tasks?project=sound', board: '/tasks?project=sound&view=board', tree: '/tasks?project=sound&view=tree', new: '/tasks/new', none: '/tasks?q=no+such',
    asks: `/tasks/${asks.task.id}`, ended: `/tasks/${done.task.id}`, log: `/tasks/${done.task.id}?part=log`, runs: `/tasks/${done.task.id}?part=runs`, parent: `/tasks/${parent.id}`,
  };
  const page = await open(browser, server.url, { scheme: 'dark' });
  for (const [name, place] of Object.entries(places)) {
    await visit(page, place);
    await assertAccessibleEverywhere(page, `task-${name}`);
  }
  assertCalm(page);
  await page.context().close();
});
