import { describe, expect, it, vi } from 'vitest';
import { askedQuestion, prepareBrowser } from '@/test/page';

const browser = prepareBrowser();
const draft = { values: { colour: 'blue' }, other: {}, comment: '', action: undefined };
const undoSeconds = 5;

/** Gives an answer that the server holds. The clock of the page stands still until the test moves it. */
async function giveHeldAnswer() {
  const page = await browser.openPage('ann');
  page.startHeld();
  page.writeDraft('q_1', draft);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const now = Date.now();
  const held = { by: { kind: 'human' as const, name: 'ann' }, at: new Date(now).toISOString(), release_at: new Date(now + undoSeconds * 1000).toISOString() };
  browser.server.reply(200, askedQuestion({ held }));
  await page.sendAnswer(askedQuestion(), 'blue', { answers: { colour: 'blue' } });
  return page;
}

type Page = Awaited<ReturnType<typeof giveHeldAnswer>>;
const shown = (page: Page) => page.heldAnswers().map(({ ids, said, title }) => ({ ids, said, title }));
const blue = { ids: ['q_1'], said: 'blue', title: 'Which colour?' };

function undo(page: Page) {
  const [last] = page.heldAnswers();
  if (!last) throw new Error('no answer is held');
  return page.undoAnswer(last);
}

describe('an answer that the server holds', () => {
  it('can be undone until it counts, and its draft is kept so long', async () => {
    const page = await giveHeldAnswer();
    vi.advanceTimersByTime(undoSeconds * 1000 - 1);
    expect(shown(page)).toEqual([blue]);
    expect(page.readDraft('q_1')?.values).toEqual({ colour: 'blue' });
    vi.advanceTimersByTime(1);
    expect(shown(page)).toEqual([]);
    expect(page.readDraft('q_1')).toBeUndefined();
  });

  it('opens its question again when it is undone, with what the reader had chosen', async () => {
    const page = await giveHeldAnswer();
    const undone = vi.fn();
    page.onUndone(undone);
    browser.server.reply(200, askedQuestion());
    await undo(page);
    expect(browser.server.calls.at(-1)?.path).toBe('/v1/questions/q_1/undo');
    expect(undone).toHaveBeenCalledExactlyOnceWith('q_1');
    expect(shown(page)).toEqual([]);
    expect(page.shownQuestion('q_1')).not.toHaveProperty('held');
    vi.advanceTimersByTime(undoSeconds * 1000);
    expect(page.readDraft('q_1')?.values).toEqual({ colour: 'blue' });
  });

  it('is not shown while it is being undone', async () => {
    const page = await giveHeldAnswer();
    const undone = undo(page);
    expect(shown(page)).toEqual([]);
    await undone;
  });

  it('is shown again if it could not be undone, until it counts', async () => {
    const page = await giveHeldAnswer();
    browser.server.refuse(409, 'illegal_transition');
    await expect(undo(page)).rejects.toMatchObject({ code: 'illegal_transition' });
    expect(shown(page)).toEqual([blue]);
    vi.advanceTimersByTime(undoSeconds * 1000);
    expect(shown(page)).toEqual([]);
  });

  it('is undone for all questions that were answered together, and shown again for those that could not be', async () => {
    const page = await giveHeldAnswer();
    page.holdAnswer({ ids: ['q_1', 'q_2', 'q_3'], title: '3 questions', said: 'Approved', releaseAt: Date.now() + undoSeconds * 1000 });
    expect(shown(page)).toEqual([{ ids: ['q_1', 'q_2', 'q_3'], title: '3 questions', said: 'Approved' }]);
    const undone = vi.fn();
    page.onUndone(undone);
    browser.server.reply(200, askedQuestion());
    browser.server.refuse(409, 'illegal_transition');
    browser.server.reply(200, askedQuestion());
    await expect(undo(page)).rejects.toMatchObject({ code: 'illegal_transition' });
    expect(undone.mock.calls).toEqual([['q_1'], ['q_3']]);
    expect(shown(page)).toEqual([{ ids: ['q_2'], title: '3 questions', said: 'Approved' }]);
    vi.advanceTimersByTime(undoSeconds * 1000);
    expect(shown(page)).toEqual([]);
  });

  it('takes the place of an earlier one to the same question', async () => {
    const page = await giveHeldAnswer();
    page.holdAnswer({ ...blue, said: 'red', releaseAt: Date.now() + 2 * undoSeconds * 1000 });
    expect(shown(page)).toEqual([{ ...blue, said: 'red' }]);
    vi.advanceTimersByTime(undoSeconds * 1000);
    expect(shown(page)).toEqual([{ ...blue, said: 'red' }]);
    expect(page.readDraft('q_1')).toBeDefined();
  });
});

it('an answer that counts at once cannot be undone, and its draft is gone', async () => {
  const page = await browser.openPage('ann');
  page.startHeld();
  page.writeDraft('q_1', draft);
  await page.sendAnswer(askedQuestion(), 'blue', { answers: { colour: 'blue' } });
  expect(page.heldAnswers()).toEqual([]);
  expect(page.readDraft('q_1')).toBeUndefined();
});
