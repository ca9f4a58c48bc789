// The report of a failed test: its error, every page with a screenshot, and the last output of the servers.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { pages } from './browser.mjs';
import { inTime, longest, patient } from './patience.mjs';

/** The number of lines that are shown of a page or a server. */
const lines = 20;

let folder;
/**
 * Returns the folder for screenshots of failures. test/gate names one in FERMATA_TEST_PICTURES and keeps it after the
 * run.
 */
function picturesOfFailures() {
  folder ??= process.env.FERMATA_TEST_SHOTS ?? process.env.FERMATA_TEST_PICTURES ?? mkdtempSync(join(tmpdir(), 'fermata-failed-'));
  mkdirSync(folder, { recursive: true });
  return folder;
}

let pictures = 0;
/** Takes a screenshot and returns its path. A page that hangs has none. */
async function picture(page, name) {
  const path = join(picturesOfFailures(), `failed-${name.replaceAll(/\W+/g, '-').slice(0, 60)}-${process.pid}-${++pictures}.png`);
  return inTime(page.screenshot({ path, timeout: 0 }), 'the page is pictured', patient(10)).then(() => path, (error) => `none: ${error.message}`);
}

const last = (said) => said.slice(-lines).map((line) => `      ${line}`).join('\n') || '      nothing';

/** Prints everything that helps to understand why a test failed. */
async function tell(name, error, servers) {
  const story = [`✖ ${name}`, `    ${String(error?.stack ?? error).replaceAll('\n', '\n    ')}`];
  for (const page of pages) story.push(`    page ${page.url()}`, `    picture ${await picture(page, name)}`, '    it said last:', last(page.said));
  for (const { args, said } of servers) story.push(`    server ${args.join(' ')} said last:`, last(said));
  console.log(stripVTControlCharacters(story.join('\n')));
}

/**
 * Returns the function `work` with the time limit of a test. It prints the report of a failure before it throws the
 * error.
 */
export const told = (name, work, servers) => async (...given) => {
  try {
    return await inTime(work(...given), name, longest);
  } catch (error) {
    await tell(name, error, servers);
    throw error;
  }
};
