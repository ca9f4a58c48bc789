// The browser of a journey, and the messages of its pages.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { patience, until } from './patience.mjs';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const shots = process.env.FERMATA_TEST_SHOTS;

/** These flags keep Chromium to the pages of the test, so that it fetches nothing for itself. */
const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
];

const fullChromiumPath = () => process.env.FERMATA_TEST_CHROMIUM ?? '/usr/bin/chromium';

/**
 * Returns the path of a Chromium without windows, which is quicker at everything. Debian has it as a package of its
 * own.
 */
function quickChromiumPath() {
  const named = process.env.FERMATA_TEST_CHROMIUM_HEADLESS;
  if (named) return named;
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium-headless-shell')).find(existsSync);
  return found ?? fullChromiumPath();
}

/**
 * Returns the browser that shows pages: the one that the journeys share. If it is gone or there is none, this journey
 * starts its own.
 */
export const launch = async () => {
  const shared = process.env.FERMATA_TEST_BROWSER;
  return (shared && (await chromium.connect(shared, { timeout: patience }).catch(() => undefined))) || chromium.launch(quickOptions());
};

/**
 * Starts a browser that the journeys share. Each journey has windows of its own in it, which close when the journey
 * ends.
 */
export const launchShared = () => chromium.launchServer({ ...quickOptions(), host: '127.0.0.1' });

/** These flags leave out V8's optimizing compiler. Its work does not pay for pages that live for seconds. */
const quickFlags = [...flags, '--js-flags=--no-opt'];

const quickOptions = () => ({ executablePath: quickChromiumPath(), args: quickFlags, timeout: patience });

/** Starts the browser that also shows notifications and takes pushes. */
export const launchFull = () => chromium.launch({ executablePath: fullChromiumPath(), args: flags, timeout: patience });

/** The open pages. When a test fails, their messages are shown. */
export const pages = new Set();

/**
 * Opens a window of its own. Its pages have the long time limits and record their messages. They have no service
 * worker, unless the options allow it: it would fetch and keep all files anew for each window.
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

/** Reports whether a request is answered only when something happens. No page waits for such a request. */
const isHeldOpen = (request) => /\/v1\/events\b|[?&]wait=/.test(request.url());

/** Opens a page whose complaints fail the journey at its end. */
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

/** Returns a promise that waits, and the function that releases it. */
export function gate() {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  return { held, release };
}

/** Holds the event streams of a page, or of a context's pages, until the returned function is called. */
export async function holdStreams(owner) {
  const { held, release } = gate();
  await owner.route('**/v1/events*', async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

/**
 * Holds back the first reply to an address until the returned function is
 * called. Its `read` settles when the server has made the reply.
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

/** Asserts that nothing went wrong on the page: no error, and no violation of its own policy. */
export const assertCalm = (page) => assert.deepEqual(page.complaints, []);

/** Waits until the page has rendered what it was given, and the new elements listen. */
export const drawn = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))));

/** Waits until the page stands still: nothing is loading, and nothing moves except endless animations. */
export async function settled(page) {
  const still = () => !document.querySelector('.mantine-Loader-root')
    && document.getAnimations().every((each) => each.playState === 'finished' || each.effect?.getComputedTiming().endTime === Infinity);
  await until(async () => {
    await drawn(page);
    assert.equal([...page.loading].map((request) => request.url()).join(' '), '', `${page.url()} loads`);
    assert.ok(await page.evaluate(still), `${page.url()} moves`);
  });
}

/** Goes to a page as a link does: the page is rendered anew, and nothing is loaded twice. */
export async function visit(page, path) {
  const go = (to) => page.evaluate((where) => history.pushState({}, '', where), to);
  // The way leads over an address without a page, so that nothing of the old page can be on the screen afterwards.
  await go('/nowhere');
  await page.locator('h1', { hasText: /^404$/ }).waitFor();
  await go(path);
  await page.locator('h1', { hasNotText: /^404$/ }).first().waitFor();
  await settled(page);
}

/** Presses keys for which the page listens when it stands still, as quickly as a person who knows them. */
export async function press(page, ...keys) {
  await settled(page);
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

/** Whether screenshots are kept. */
export const pictured = shots !== undefined;

/** Saves a screenshot in the folder that FERMATA_TEST_SHOTS names. */
export async function shoot(page, name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}
