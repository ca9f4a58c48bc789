// The browser of a journey, and the messages of its pages.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { patience, until } from './patience.mjs';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const shots = process.env.FERMATA_TEST_SHOTS;

/** With these flags, Chromium fetches only the pages of the test and nothing for itself. */
const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
];

const fullChromiumPath = () => process.env.FERMATA_TEST_CHROMIUM ?? '/usr/bin/chromium';

/**
 * Returns the path of the headless Chromium, which is faster, or else of the full one. Debian has the headless Chromium
 * as a package of its own.
 */
function quickChromiumPath() {
  const named = process.env.FERMATA_TEST_CHROMIUM_HEADLESS;
  if (named) return named;
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium-headless-shell')).find(existsSync);
  return found ?? fullChromiumPath();
}

/** Returns the browser that the journeys share. If there is none or it has ended, this journey starts its own. */
export const launch = async () => {
  const shared = process.env.FERMATA_TEST_BROWSER;
  return (shared && (await chromium.connect(shared, { timeout: patience }).catch(() => undefined))) || chromium.launch(quickOptions());
};

/**
 * Starts a browser that the journeys share. Each journey opens its own windows in it, which close when the journey
 * ends.
 */
export const launchShared = () => chromium.launchServer({ ...quickOptions(), host: '127.0.0.1' });

/** These flags turn off V8's optimizing compiler. Its work does not pay off for pages that live for seconds. */
const quickFlags = [...flags, '--js-flags=--no-opt'];

const quickOptions = () => ({ executablePath: quickChromiumPath(), args: quickFlags, timeout: patience });

/** Starts the full browser, which also shows notifications and receives push messages. */
export const launchFull = () => chromium.launch({ executablePath: fullChromiumPath(), args: flags, timeout: patience });

/** The open pages. When a test fails, their messages are shown. */
export const pages = new Set();

/**
 * Opens a browser context. Its pages have the long time limits and record their messages. They have no service worker
 * unless the options allow it, because each context would fetch and cache all files again.
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

/** Reports whether the server answers a request only when something happens. Nothing here waits for such a request. */
const isHeldOpen = (request) => /\/v1\/events\b|[?&]wait=/.test(request.url());

/** Opens a page that records its errors as complaints. assertCalm fails if there are any. */
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
 * called. The promise `read` of that function resolves when the server has
 * replied.
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

/** Asserts that nothing went wrong on the page: no error, and no violation of its content security policy. */
export const assertCalm = (page) => assert.deepEqual(page.complaints, []);

/** Waits until the page has rendered its last change, and its new elements handle events. */
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

/** Goes to a page as a link does: the page is rendered again, and nothing is loaded twice. */
export async function visit(page, path) {
  const go = (to) => page.evaluate((where) => history.pushState({}, '', where), to);
  // It goes to an address without a page first, so that nothing of the old page can be on the screen afterwards.
  await go('/nowhere');
  await page.locator('h1', { hasText: /^404$/ }).waitFor();
  await go(path);
  await page.locator('h1', { hasNotText: /^404$/ }).first().waitFor();
  await settled(page);
}

/** Waits until the page stands still, and presses the keys as quickly as a practiced person. */
export async function press(page, ...keys) {
  await settled(page);
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

/**
 * Chooses the one option that fits what is typed into a list that filters. With the keyboard: a shorter list may move to
 * the other side of its field, and a click there would go beside it.
 */
export async function chooseTyped(field, typed, name) {
  await field.fill(typed);
  await field.page().getByRole('option', { name }).waitFor();
  await field.press('ArrowDown');
  await field.press('Enter');
}

/** Whether screenshots are kept. */
export const pictured = shots !== undefined;

/** Saves a screenshot in the folder that FERMATA_TEST_SHOTS names. */
export async function shoot(page, name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}
