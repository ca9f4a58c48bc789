// What every page must be for everybody: without a finding of axe, and within
// the window, at every width and in both schemes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { drawn, pictured, schemes, settled, shoot, widths } from './harness.mjs';

const axe = readFileSync(createRequire(new URL('../../web/package.json', import.meta.url)).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that judge colors: all that a scheme can change in a page that stays as it is. They take the most time. */
const ofColors = ['color-contrast', 'link-in-text-block'];
const onlyColors = { runOnly: ofColors };
const allButColors = { rules: Object.fromEntries(ofColors.map((rule) => [rule, { enabled: false }])) };

/** What axe finds on the page, or on what is new there. It runs in the page itself and is brought there once. */
async function findingsOf(page, rules = {}, { onlyNew = false } = {}) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const found = await page.evaluate(async ([options, fresh]) => {
    const { violations } = await window.axe.run(fresh ? { include: window.newOnPage } : document, { resultTypes: ['violations'], ...options });
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) }));
  }, [rules, onlyNew]);
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
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
  await work(was);
  for (const scheme of schemes.filter((each) => each !== was)) {
    await turn(page, scheme);
    await work(scheme);
  }
  await turn(page, was);
}

/**
 * Marks what is to be seen on the page and was not before, since the page was loaded, and says how much it is. What
 * says the same, in the same element within the same ones, has the same colors.
 */
const markNew = (page) => page.evaluate(() => {
  const hashOf = (text) => `${[...text].reduce((sum, sign) => (Math.imul(sum, 31) + sign.codePointAt(0)) | 0, 7)}.${text.length}`;
  const looks = new Map();
  const lookOf = (element) => {
    const attributes = [...element.attributes].filter(({ name }) => name !== 'style').map(({ name, value }) => `${name}=${value}`);
    const words = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data);
    return [looks.get(element.parentElement), element.tagName, ...attributes, ...words].join(' ');
  };
  for (const element of document.querySelectorAll('html, body, body *')) looks.set(element, hashOf(lookOf(element)));
  window.seenOnPage ??= new Set();
  const shown = [...looks.keys()].filter((each) => each.checkVisibility({ visibilityProperty: true }));
  const fresh = new Set(shown.filter((each) => !window.seenOnPage.has(looks.get(each))));
  shown.forEach((each) => window.seenOnPage.add(looks.get(each)));
  // What is in another new element is judged with it.
  window.newOnPage = [...fresh].filter(({ parentElement }) => !fresh.has(parentElement));
  return window.newOnPage.length;
});

/**
 * What is on the page now is sound at every width and in both schemes. At every width the rules judge all of it, but
 * for its colors: these are judged, in both schemes, where there is something that was not seen before. The page is
 * left at the last of the widths, as wide as it was opened.
 */
export async function assertSoundEverywhere(page, name, { arrange = () => undefined, over = widths } = {}) {
  for (const width of over) {
    await page.setViewportSize({ width, height: 900 });
    await drawn(page);
    await arrange();
    await settled(page);
    await assertFits(page, `${name} at ${width}`);
    const fresh = await markNew(page);
    assert.deepEqual(await findingsOf(page, allButColors), [], `${name} at ${width}`);
    if (fresh === 0 && !pictured) continue;
    await inBothSchemes(page, async (scheme) => {
      await shoot(page, `${name}-${scheme}-${width}`);
      if (fresh > 0) assert.deepEqual(await findingsOf(page, onlyColors, { onlyNew: true }), [], `${name} at ${width} in ${scheme}`);
    });
  }
}
