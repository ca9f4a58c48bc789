// The browser of a journey, and what its pages say.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { patience, until } from './patience.mjs';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const shots = process.env.FERMATA_TEST_SHOTS;

/** They keep Chromium to the pages of the test: it fetches nothing for itself. */
const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
];

const whole = () => process.env.FERMATA_TEST_CHROMIUM ?? '/usr/bin/chromium';

/** Chromium without a window is quicker at everything; Debian has it as a package of its own. */
function headless() {
  const named = process.env.FERMATA_TEST_CHROMIUM_HEADLESS;
  if (named) return named;
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium-headless-shell')).find(existsSync);
  return found ?? whole();
}

/** The browser that shows pages: the one that the journeys share, or where it is gone or there is none, one of this journey. */
export const launch = async () => {
  const shared = process.env.FERMATA_TEST_BROWSER;
  return (shared && (await chromium.connect(shared, { timeout: patience }).catch(() => undefined))) || chromium.launch(plain());
};

/** Starts a browser for others to share; each has windows of its own in it, and takes them along when it goes. */
export const launchShared = () => chromium.launchServer({ ...plain(), host: '127.0.0.1' });

/** These flags leave out V8's optimizing compiler. Its work does not pay for pages that live for seconds. */
const quick = [...flags, '--js-flags=--no-opt'];

const plain = () => ({ executablePath: headless(), args: quick, timeout: patience });

/** Starts the browser that also shows notifications and takes pushes. */
export const launchWhole = () => chromium.launch({ executablePath: whole(), args: flags, timeout: patience });

/** The pages that are open; what fails a test is looked up there. */
export const pages = new Set();

/**
 * Opens a window of its own, whose pages are patient and remember what they said. They have no service worker, unless
 * the options allow it: it would fetch and keep all files anew for each window.
 */
export async function newContext(browser, options = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', serviceWorkers: 'block', ...options });
  context.setDefaultTimeout(patience);
  context.on('page', remember);
  return context;
}

function remember(page) {
  const say = (words) => {
    page.said.push(words);
    if (page.said.length > 200) page.said.shift();
  };
  Object.assign(page, { said: [], loading: new Set() });
  pages.add(page);
  page.on('close', () => pages.delete(page));
  page.on('pageerror', (error) => say(String(error.stack ?? error)));
  page.on('crash', () => say('the page crashed'));
  page.on('console', (message) => say(`${message.type()}: ${message.text()}`));
  page.on('requestfailed', (request) => say(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`));
  page.on('request', (request) => !isHeldOpen(request) && page.loading.add(request));
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => page.loading.delete(request));
  page.on('framenavigated', (frame) => frame === page.mainFrame() && page.loading.clear());
}

/** It is answered when something happens, and no page waits for it. */
const isHeldOpen = (request) => /\/v1\/events\b|[?&]wait=/.test(request.url());

/** A page whose complaints fail the journey at its end. */
export async function open(browser, url, { width = 1440, height = 900, scheme = 'light', wait = 'h1', context, serviceWorkers = 'block', quiet = /ERR_|Failed to load resource/ } = {}) {
  const owner = context ?? (await newContext(browser, { viewport: { width, height }, colorScheme: scheme, serviceWorkers }));
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

/** What waits until it is released. */
export function gate() {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  return { held, release };
}

/** Holds the streams of events of a page, or of a context's pages, until the returned function is called. */
export async function holdStreams(owner) {
  const { held, release } = gate();
  await owner.route('**/v1/events*', async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

/**
 * Holds back the first reply to an address until the returned function is called.
 * Its `read` settles when the server has made the reply.
 */
export async function holdReply(page, address) {
  const { held, release } = gate();
  let made;
  release.read = new Promise((resolve) => (made = resolve));
  await page.route(address, async (route) => {
    const response = await route.fetch();
    made();
    await held;
    await route.fulfill({ response });
  }, { times: 1 });
  return release;
}

/** Nothing went wrong on the page: no error, no refusal of its own policy. */
export const assertCalm = (page) => assert.deepEqual(page.complaints, []);

/** Waits until the page has drawn what it was given, and what it drew listens. */
export const drawn = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))));

/** Waits until the page stands still: nothing is loaded, and nothing moves but what turns for ever. */
export async function settled(page) {
  const still = () => !document.querySelector('.mantine-Loader-root')
    && document.getAnimations().every((each) => each.playState === 'finished' || each.effect?.getComputedTiming().endTime === Infinity);
  await until(async () => {
    await drawn(page);
    assert.equal([...page.loading].map((request) => request.url()).join(' '), '', `${page.url()} loads`);
    assert.ok(await page.evaluate(still), `${page.url()} moves`);
  });
}

/** Goes to a page as a link does: it is drawn anew, and nothing is loaded twice. */
export async function visit(page, path) {
  const go = (to) => page.evaluate((where) => history.pushState({}, '', where), to);
  // By way of a page that is nowhere: what is on screen afterwards cannot be what was there before.
  await go('/nowhere');
  await page.locator('h1', { hasText: /^404$/ }).waitFor();
  await go(path);
  await page.locator('h1', { hasNotText: /^404$/ }).first().waitFor();
  await settled(page);
}

/** Presses keys that the page listens for as soon as it stands still, as quickly as somebody who knows them. */
export async function press(page, ...keys) {
  await settled(page);
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

/** Whether pictures are kept. */
export const pictured = shots !== undefined;

/** Keeps a picture where FERMATA_TEST_SHOTS says. */
export async function shoot(page, name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}
