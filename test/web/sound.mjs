// What every page must be for everybody: without a finding of axe, and within
// the window, at every width and in both schemes.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { schemes, shoot, until, widths } from './harness.mjs';

const axe = createRequire(new URL('../../web/package.json', import.meta.url))('axe-core');

/** The rules that judge colors: all that a scheme can change in a page that stays as it is. */
const ofColors = ['color-contrast', 'link-in-text-block'];

/** What axe finds on the page. It runs in the page itself and is brought there once: that is most of its cost. */
async function findingsOf(page, runOnly) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const rules = await page.evaluate(async (only) => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'], ...(only ? { runOnly: only } : {}) });
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) }));
  }, runOnly);
  return rules.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
}

/** The words of buttons that do not fit into them. */
const cutButtons = (page) => page.evaluate(() => [...document.querySelectorAll('.mantine-Button-label')]
  .filter((label) => label.checkVisibility() && (label.scrollWidth > label.clientWidth + 1 || (getComputedStyle(label).webkitLineClamp !== 'none' && label.scrollHeight > label.clientHeight + 1)))
  .map((label) => label.textContent));

/** The page has no finding of axe, nothing hangs over its edge, and no button cuts its words off. */
export async function assertSound(page, name, runOnly) {
  assert.deepEqual(await findingsOf(page, runOnly), [], name);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${name} is ${over} px wider than the window`);
  assert.deepEqual(await cutButtons(page), [], `${name}: cut off`);
}

/** The page has drawn what was changed, and loads nothing. */
async function drawn(page) {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.waitForFunction(() => !document.querySelector('.mantine-Loader-root'));
}

/** Turns the page to a scheme, as the system does while somebody looks. */
async function turn(page, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.waitForFunction((wanted) => document.documentElement.dataset.mantineColorScheme === wanted, scheme);
  await drawn(page);
}

/**
 * The page is sound in both schemes. All rules judge it as it was loaded; turned
 * to the other scheme while somebody looks, only its colors can have changed.
 */
export async function assertSoundInBoth(page, name, { picture = (scheme) => `${name}-${scheme}` } = {}) {
  const was = await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  for (const scheme of [was, ...schemes.filter((each) => each !== was)]) {
    await turn(page, scheme);
    await shoot(page, picture(scheme));
    await until(() => assertSound(page, `${name} in ${scheme}`, scheme === was ? undefined : ofColors), 5_000);
  }
  await turn(page, was);
}

/** What is on the page now is sound at every width and in both schemes; the page is left at the last of them, as wide as it was opened. */
export async function assertSoundEverywhere(page, name, arrange = () => undefined) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await arrange();
    await assertSoundInBoth(page, `${name} at ${width}`, { picture: (scheme) => `${name}-${scheme}-${width}` });
  }
}

/** Goes through every width with the scheme in which its pages are loaded; each scheme has its turn. */
export const everyWidth = () => widths.map((width, n) => ({ width, scheme: schemes[n % schemes.length] }));
