// What every journey needs: the real program, a real browser, and the pages
// and complaints of both.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as runner from 'node:test';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const binary = process.env.FERMATA_BINARY;
const shots = process.env.FERMATA_TEST_SHOTS;
if (!binary) throw new Error('FERMATA_BINARY names no program; go test ./test/web sets it');

/** How long a test may take that says nothing else. One that waits for what never comes fails by its name. */
const bound = { timeout: 240_000 };

/** What runs for the tests. A test that failed leaves its own behind: nothing outlives the journey. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export const test = (name, ...rest) => (rest.length === 1 ? runner.test(name, bound, ...rest) : runner.test(name, ...rest));
export const before = (prepare) => runner.before(prepare, bound);
export const after = (tidy) => runner.after(tidy, bound);

export const widths = [360, 768, 1440];
export const schemes = ['light', 'dark'];

/** Starts the program on a folder of its own, for one local user unless it is told otherwise. */
export async function startServer({ data = mkdtempSync(join(tmpdir(), 'fermata-web-')), port = 0, args = ['--single-user'] } = {}) {
  const child = spawn(binary, ['serve', ...args, '--listen', `127.0.0.1:${port}`, '--data', data], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const said = [];
  const url = await new Promise((resolve, reject) => {
    const hear = (line) => {
      said.push(line);
      const found = /serves on (http:\S+)/.exec(line);
      if (found) resolve(found[1]);
    };
    createInterface({ input: child.stdout }).on('line', hear);
    createInterface({ input: child.stderr }).on('line', hear);
    setTimeout(() => reject(new Error(`the server did not start:\n${said.join('\n')}`)), 60_000).unref();
    // Not its exit: what it said last may be read after that.
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${said.join('\n')}`)));
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const end = async (signal) => {
    child.kill(signal);
    // A server that does not end says on which lines it stands.
    const late = setTimeout(() => child.kill('SIGQUIT'), 45_000);
    await ended;
    clearTimeout(late);
    assert.ok(child.exitCode === 0 || child.signalCode === signal, `the server ended with ${child.exitCode ?? child.signalCode}:\n${said.join('\n')}`);
  };
  return new Server(url, data, args, said, end);
}

/**
 * Starts the program on a port that it keeps, also while it is down. Such a port lies below those that the system
 * hands out by itself; where somebody has it, another one is tried.
 */
export async function startServerToStay(argsAt = () => undefined) {
  const data = mkdtempSync(join(tmpdir(), 'fermata-web-'));
  for (let tries = 1; ; tries++) {
    const port = 11_000 + Math.floor(Math.random() * 3_000);
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

  /** Ends the program and forgets what it stored. */
  async stop() {
    await this.end('SIGTERM');
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Starts it again where it was. */
  again() {
    return startServer({ data: this.data, port: new URL(this.url).port, args: this.args });
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

  /** The question as soon as it is closed; held answers are released by then. */
  async closed(id) {
    return this.call('GET', `/v1/questions/${id}?wait=30s`);
  }
}

export const item = (response_type, more = {}) => ({ key: 'it', prompt: 'What shall it be?', response_type, ...more });
export const yesNo = (title, more = {}) => ({ type: 'blocking', title, items: [item('boolean', { prompt: title })], ...more });
export const approval = (title, action, more = {}) => ({ type: 'approval', title, items: [item('approval', { prompt: title })], action, ...more });

export const launch = () => chromium.launch({ executablePath: process.env.FERMATA_TEST_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** A page whose complaints fail the journey at its end. */
export async function open(browser, url, { width = 1440, height = 900, scheme = 'light', wait = 'h1', context, quiet = /ERR_|Failed to load resource/ } = {}) {
  const owner = context ?? (await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' }));
  const page = await owner.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !quiet.test(message.text())) page.complaints.push(message.text());
  });
  await page.goto(url);
  if (wait) await page.waitForSelector(wait);
  return page;
}

/** What the browser keeps of an answer that was begun. */
export const draftOf = (page, id) => page.evaluate((end) => {
  const key = Object.keys(localStorage).find((each) => each.endsWith(end));
  return key === undefined ? null : localStorage.getItem(key);
}, `:draft.${id}`);

/** Nothing went wrong on the page: no error, no refusal of its own policy. */
export const assertCalm = (page) => assert.deepEqual(page.complaints, []);

/** Keeps a picture where FERMATA_TEST_SHOTS says. */
export async function shoot(page, name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

/** Waits until a check passes; the last failure is the one that is shown. */
export async function until(check, within = 30_000) {
  const end = Date.now() + within;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
