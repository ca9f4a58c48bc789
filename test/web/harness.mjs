// The tools that every journey needs. They start the real program and a real
// browser, and collect the messages of both.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as runner from 'node:test';
import { told } from './failure.mjs';
import { inTime, patience, until } from './patience.mjs';

export * from './browser.mjs';
export * from './patience.mjs';

const binary = process.env.FERMATA_BINARY;
if (!binary) throw new Error('FERMATA_BINARY names no program; go test ./test/web sets it');

/** The processes of the tests. A failed test leaves its processes behind, so they are killed when the journey ends. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
process.on('SIGTERM', () => process.exit(1));

/** The servers that no test has ended. */
const servers = new Set();

// The tests have a time limit of their own, because the runner's limit would leave no report.
export const test = (name, work) => runner.test(name, told(name, work, servers));
export const before = (prepare) => runner.before(told('before the tests', async () => prepare(), servers));
export const after = (tidy) => runner.after(told('after the tests', async () => tidy(), servers));

export const widths = [360, 768, 1440];
export const schemes = ['light', 'dark'];

/**
 * Starts the program on a folder of its own, by default for one local user. An answer can be undone for one second,
 * because most journeys wait until it counts. If `undo` is null, the program's default applies.
 */
export async function startServer({ data = mkdtempSync(join(tmpdir(), 'fermata-web-')), port = 0, args = ['--single-user'], undo = 1 } = {}) {
  const server = await startProgram(data, port, args);
  if (undo !== null && args.includes('--single-user')) await server.allowUndo(undo);
  return server;
}

async function startProgram(data, port, args) {
  const child = spawn(binary, ['serve', ...args, '--listen', `127.0.0.1:${port}`, '--data', data], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  const shown = { args, said };
  running.add(child);
  servers.add(shown);
  child.once('exit', () => running.delete(child));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = await inTime(new Promise((resolve, reject) => {
    const hear = (line) => {
      said.push(line);
      const found = /serves on (http:\S+)/.exec(line);
      if (found) resolve(found[1]);
    };
    createInterface({ input: child.stdout }).on('line', hear);
    createInterface({ input: child.stderr }).on('line', hear);
    // This waits for `close` and not for `exit`, because the last output may be read after the exit.
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${said.join('\n')}`)));
  }), 'the server has started');
  const end = async (signal) => {
    child.kill(signal);
    // A server that does not end prints its stacks.
    const late = setTimeout(() => child.kill('SIGQUIT'), patience);
    await ended;
    clearTimeout(late);
    servers.delete(shown);
    assert.ok(child.exitCode === 0 || child.signalCode === signal, `the server ended with ${child.exitCode ?? child.signalCode}:\n${said.join('\n')}`);
  };
  return new Server(url, data, args, said, end);
}

/**
 * The first of five ports that only this journey uses, even while nothing listens there. It is 0 if a journey runs
 * alone.
 */
const reserved = Number(process.env.FERMATA_TEST_PORT ?? 0);

/**
 * Starts the program on a fixed port, which no other process gets while the program is down. The port is below the
 * range from which the system picks ports. If it is in use, the next try takes another one.
 */
export async function startServerToStay(argsAt = () => undefined) {
  const data = mkdtempSync(join(tmpdir(), 'fermata-web-'));
  for (let tries = 1; ; tries++) {
    const port = reserved ? reserved + ((tries - 1) % 5) : 11_000 + Math.floor(Math.random() * 3_000);
    try {
      return await startServer({ data, port, args: argsAt(port) });
    } catch (error) {
      if (tries === 20 || !/address already in use/.test(error.message)) throw error;
    }
  }
}

class Server {
  constructor(url, data, args, said, end) {
    Object.assign(this, { url, data, args, said, end });
  }

  /** Ends the program and deletes what it stored. */
  async stop() {
    await this.end('SIGTERM');
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Starts the program again, at the same address and with the same data. */
  again() {
    return startProgram(this.data, new URL(this.url).port, this.args);
  }

  /** Lets people undo an answer for this many seconds. */
  async allowUndo(seconds) {
    await this.call('PUT', '/v1/policies', { ...(await this.call('GET', '/v1/policies')), undo_seconds: seconds });
  }

  async call(method, path, body, headers = {}) {
    const response = await fetch(this.url + path, {
      method, headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}), ...headers },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  ask(question) {
    return this.call('POST', '/v1/questions', { timeout: 'never', ...question });
  }

  question(id) {
    return this.call('GET', `/v1/questions/${id}`);
  }

  /** Waits until the question is closed, and returns it. A held answer closes it when the time for undo is over. */
  closed(id) {
    return until(async () => {
      const question = await this.call('GET', `/v1/questions/${id}?wait=30s`);
      assert.notEqual(question.status, 'pending', `${id} is open`);
      return question;
    });
  }
}

/** Runs a command of the program to its end, and returns what it printed. */
export const command = (args, input) => execFileSync(binary, args, { input, encoding: 'utf8' });

export const item = (response_type, more = {}) => ({ key: 'it', prompt: 'What shall it be?', response_type, ...more });
export const yesNo = (title, more = {}) => ({ type: 'blocking', title, items: [item('boolean', { prompt: title })], ...more });
export const approval = (title, action, more = {}) => ({ type: 'approval', title, items: [item('approval', { prompt: title })], action, ...more });

/**
 * Submits the answer without a click. The page may notice on its own that its session has ended, and its dialog would
 * cover the button.
 */
export const submitAnswer = (page) => page.locator('main form').first().evaluate((form) => form.requestSubmit());

/** Returns the draft of an answer that the browser keeps. */
export const draftOf = (page, id) => page.evaluate((end) => {
  const key = Object.keys(localStorage).find((each) => each.endsWith(end));
  return key === undefined ? null : localStorage.getItem(key);
}, `:draft.${id}`);
