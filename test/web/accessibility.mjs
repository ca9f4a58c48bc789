// Every page must be accessible: axe finds nothing, and no part of the page is
// outside of the window, at every width and in both schemes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { drawn, pictured, schemes, settled, shoot, widths } from './harness.mjs';

const axe = readFileSync(createRequire(new URL('../../web/package.json', import.meta.url)).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that check colors. A switch to the other scheme changes only their results. They take the most time. */
const ofColors = ['color-contrast', 'link-in-text-block'];
const onlyColors = { runOnly: ofColors };
const allButColors = { rules: Object.fromEntries(ofColors.map((rule) => [rule, { enabled: false }])) };

/** Returns what axe finds on the page, or only on its new elements. Axe runs in the page and is loaded there once. */
async function findingsOf(page, rules = {}, { onlyNew = false } = {}) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const found = await page.evaluate(async ([options, fresh]) => {
    const { violations } = await window.axe.run(fresh ? { include: window.newOnPage } : document, { resultTypes: ['violations'], ...options });
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) }));
  }, [rules, onlyNew]);
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
}

/** Returns the labels that do not fit into their buttons. */
const cutButtons = (page) => page.evaluate(() => [...document.querySelectorAll('.mantine-Button-label')]
  .filter((label) => label.checkVisibility() && (label.scrollWidth > label.clientWidth + 1 || (getComputedStyle(label).webkitLineClamp !== 'none' && label.scrollHeight > label.clientHeight + 1)))
  .map((label) => label.textContent));

/** Asserts that the page is not wider than the window, and that no button cuts its label off. */
async function assertFits(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${name} is ${over} px wider than the window`);
  assert.deepEqual(await cutButtons(page), [], `${name}: cut off`);
}

/** Asserts that axe finds nothing on the page, and that all of it fits. */
export async function assertAccessible(page, name) {
  await settled(page);
  assert.deepEqual(await findingsOf(page), [], name);
  await assertFits(page, name);
}

/** Switches the page to a scheme, as the system does while a person looks at it. */
async function turn(page, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.waitForFunction((wanted) => document.documentElement.dataset.mantineColorScheme === wanted, scheme);
  await settled(page);
}

const schemeOf = (page) => page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));

/** Runs `work` in the scheme of the page, then in the other one, and switches the page back. */
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
 * Marks the visible elements that are new since the page was loaded, and returns their number. Two elements count as
 * the same if tag, attributes and text are equal for them and for all elements around them. They then have the same
 * colors.
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
  // An element inside another new element is checked with that one.
  window.newOnPage = [...fresh].filter(({ parentElement }) => !fresh.has(parentElement));
  return window.newOnPage.length;
});

/**
 * Asserts that the page is accessible at every width and in both schemes. At every width, it checks the whole page by
 * all rules except those for colors. It checks colors in both schemes, but only those of new elements. At the end, the
 * window has the last of the widths.
 */
export async function assertAccessibleEverywhere(page, name, { arrange = () => undefined, over = widths } = {}) {
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
