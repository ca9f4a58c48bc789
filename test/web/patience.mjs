// The time limits of journeys. A wait ends when the awaited event comes. Its limit only turns an endless wait into a
// failure, so it is long, and the same for all waits.
import assert from 'node:assert/strict';

const factor = Number(process.env.FERMATA_TEST_PATIENCE || 1);
if (!(factor >= 1)) throw new Error(`FERMATA_TEST_PATIENCE is ${process.env.FERMATA_TEST_PATIENCE}: set it to a factor of 1 or more, such as 3, or unset it`);

/** Returns the seconds in milliseconds, multiplied by FERMATA_TEST_PATIENCE on a slow machine. */
export const patient = (seconds) => seconds * 1000 * factor;

/** The limit of every single wait. */
export const patience = patient(60);

/** The limit of a whole test. */
export const longest = patient(480);

/** Returns the result of the promise. At the limit it fails with an error that contains `words`. */
export function inTime(promise, words, limit = patience) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`not within ${limit / 1000} s: ${words}`)), limit)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Waits until a check passes and returns its result. At the limit it fails with the last failure of the check. */
export async function until(check, limit = patience) {
  const end = Date.now() + limit;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Waits until the element has the focus. Keys that are pressed after that go to the element. */
export const focused = (element) => until(async () => assert.ok(await element.evaluate((each) => each === document.activeElement), `no focus on ${element}`));
