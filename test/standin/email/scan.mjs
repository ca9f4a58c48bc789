// Opens the addresses on standard input in Chromium, as scanners do that run
// the scripts of a page: it waits for each page, and clicks on every link and
// button that submits no form.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const executablePath = process.env.FERMATA_TEST_CHROMIUM ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  for (const address of JSON.parse(readFileSync(0, 'utf8'))) await scan(address);
} finally {
  await browser.close();
}

/** Clicks on each link and button of a page. Opens the page again before each click. */
async function scan(address) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('dialog', (dialog) => void dialog.accept());
  let clickable = 1;
  for (let i = 0; i < clickable && i < 20; i++) {
    await open(page, address);
    const found = await page.$$('a[href], button, input[type=button], [role=button], [onclick], summary');
    clickable = found.length;
    if (!found[i] || (await found[i].evaluate(submits))) continue;
    await found[i].click({ timeout: 2_000, force: true }).catch(() => undefined);
    await settle(page);
  }
  await context.close();
}

/** Reports whether a click on the element submits a form. */
function submits(element) {
  const button = element.closest('button, input');
  return Boolean(button?.form) && (button.type === 'submit' || button.type === 'image');
}

async function open(page, address) {
  await page.goto(address, { waitUntil: 'load' }).catch(() => undefined);
  await settle(page);
}

function settle(page) {
  return page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
}
