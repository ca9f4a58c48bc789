// What every page must be for everybody: without a finding of axe, and within
// the window, at every width and in both schemes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { drawn, pictured, schemes, settled, shoot, widths } from './harness.mjs';

const axe = readFileSync(createRequire(new URL('../../web/package.json', import.meta.url)).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that judge colors: all that a scheme can change in a page that stays as it is. */
const ofColors = ['color-contrast', 'link-in-text-block'];

/** What axe finds on the page. It runs in the page itself and is brought there once: that is most of its cost. */
async function findingsOf(page, runOnly) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
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

/** Nothing hangs over the edge of the window, and no button cuts its words off. */
async function assertFits(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${name} is ${over} px wider than the window`);
  assert.deepEqual(await cutButtons(page), [], `${name}: cut off`);
}

/** The page has no finding of axe, and all of it fits. */
export async function assertSound(page, name) {
  await settled(page);
  assert.deepEqual(await findingsOf(page), [], name);
  await assertFits(page, name);
}

/** Turns the page to a scheme, as the system does while somebody looks. */
async function turn(page, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.waitForFunction((wanted) => document.documentElement.dataset.mantineColorScheme === wanted, scheme);
  await settled(page);
}

const schemeOf = (page) => page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));

/** Does the work in the scheme of the page, then in the other one, and turns the page back. */
async function inBothSchemes(page, work) {
  const was = await schemeOf(page);
  await work(was, true);
  for (const scheme of schemes.filter((each) => each !== was)) {
    await turn(page, scheme);
    await work(scheme, false);
  }
  await turn(page, was);
}

/** All rules judge the page in its scheme; turned to the other one while somebody looks, only its colors can have changed. */
const assertSoundInBoth = (page, name) => inBothSchemes(page, async (scheme, first) => {
  assert.deepEqual(await findingsOf(page, first ? undefined : ofColors), [], `${name} in ${scheme}`);
});

/** Everything that is to be seen on the page, but for the place where it stands. */
const layoutOf = (page) => page.evaluate(() => [...document.querySelectorAll('body, body *')].filter((each) => each.checkVisibility({ visibilityProperty: true })).map((each) => {
  const copy = each.cloneNode(false);
  copy.removeAttribute('style');
  const words = [...each.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data);
  return copy.outerHTML + words.join('');
}).join('\n'));

/**
 * What is on the page now is sound at every width and in both schemes. All of it has to fit at every width; the rules
 * judge each layout once: where another width shows the same, they would find the same. The page is left at the last
 * of the widths, as wide as it was opened.
 */
export async function assertSoundEverywhere(page, name, { arrange = () => undefined, over = widths } = {}) {
  const judged = new Set();
  for (const width of over) {
    await page.setViewportSize({ width, height: 900 });
    await drawn(page);
    await arrange();
    await settled(page);
    await assertFits(page, `${name} at ${width}`);
    if (pictured) await inBothSchemes(page, (scheme) => shoot(page, `${name}-${scheme}-${width}`));
    const layout = await layoutOf(page);
    if (judged.has(layout)) continue;
    judged.add(layout);
    await assertSoundInBoth(page, `${name} at ${width}`);
  }
}
