import { describe, expect, it, vi } from 'vitest';
import { askedQuestion, setOnline, prepareBrowser } from '@/test/page';

const browser = prepareBrowser();
const blue = { answers: { colour: 'blue' } };
const states = (page: { outbox: () => readonly { said: string; state: string }[] }) => page.outbox().map(({ said, state }) => `${said}: ${state}`);

describe('an answer', () => {
  it('is sent at once, for the person who gave it, and is not kept', async () => {
    const page = await browser.openPage('ann');
    const entry = await page.sendAnswer(askedQuestion(), 'blue', blue);
    expect(entry.state).toBe('accepted');
    expect(browser.server.calls).toEqual([{ path: '/v1/questions/q_1/answer', key: entry.key, member: 'ann', body: '{"answers":{"colour":"blue"}}' }]);
    expect(page.shownQuestion('q_1')).toMatchObject({ status: 'answered' });
    expect(page.outbox()).toEqual([]);
    expect(await (await browser.openPage('ann')).loadUnsent()).toEqual([]);
  });

  it('has its action as the reader wrote it', async () => {
    const page = await browser.openPage('ann');
    await page.sendAnswer(askedQuestion(), 'approved', { answers: { go: 'approve' } }, '{"amount":12345678901234567890,"rate":1.0}');
    expect(browser.server.calls[0]?.body).toBe('{"answers":{"go":"approve"},"action":{"amount":12345678901234567890,"rate":1.0}}');
  });

  it('that is given offline waits, and is sent once when the connection is back', async () => {
    const page = await browser.openPage('ann');
    await page.startOutbox();
    setOnline(false);
    const entry = await page.sendAnswer(askedQuestion(), 'blue', blue);
    expect(entry).toMatchObject({ state: 'queued', waited: true });
    expect(browser.server.calls).toEqual([]);
    setOnline(true);
    setOnline(true);
    await vi.waitFor(() => expect(states(page)).toEqual(['blue: accepted']));
    expect(browser.server.calls.map(({ key }) => key)).toEqual([entry.key]);
  });

  it('that waits is sent by the next page, which shows how it ended until the reader has seen it', async () => {
    const before = await browser.openPage('ann');
    setOnline(false);
    const entry = await before.sendAnswer(askedQuestion(), 'blue', blue);
    setOnline(true);
    const page = await browser.openPage('ann');
    await page.startOutbox();
    await vi.waitFor(() => expect(states(page)).toEqual(['blue: accepted']));
    expect(browser.server.calls.map(({ key }) => key)).toEqual([entry.key]);
    for (const ended of page.outbox()) await page.dismiss(ended);
    const next = await browser.openPage('ann');
    await next.startOutbox();
    expect(next.outbox()).toEqual([]);
    expect(browser.server.calls).toHaveLength(1);
  });

  it('whose reply was lost is sent again with the same key', async () => {
    const page = await browser.openPage('ann');
    await page.startOutbox();
    browser.server.cutConnection();
    const entry = await page.sendAnswer(askedQuestion(), 'blue', blue);
    expect(entry).toMatchObject({ state: 'queued', problem: { code: 'offline' } });
    setOnline(true);
    await vi.waitFor(() => expect(states(page)).toEqual(['blue: accepted']));
    expect(browser.server.calls.map(({ key }) => key)).toEqual([entry.key, entry.key]);
  });

  it('that was on its way when the page was closed is sent again with the same key', async () => {
    const before = await browser.openPage('ann');
    browser.server.reply(200, {}, new Promise<never>(() => undefined));
    void before.sendAnswer(askedQuestion(), 'blue', blue);
    await vi.waitFor(() => expect(browser.server.calls).toHaveLength(1));
    const page = await browser.openPage('ann');
    await vi.waitFor(async () => expect(await page.loadUnsent()).toHaveLength(1));
    await page.startOutbox();
    await vi.waitFor(() => expect(states(page)).toEqual(['blue: accepted']));
    const [first, second] = browser.server.calls.map(({ key }) => key);
    expect(second).toBe(first);
    expect(browser.server.calls).toHaveLength(2);
  });

  it('that the server refuses is shown with the reason, and is not sent again', async () => {
    const page = await browser.openPage('ann');
    await page.startOutbox();
    const closed = askedQuestion({ status: 'cancelled' });
    browser.server.refuse(409, 'question_closed', { question: closed });
    const entry = await page.sendAnswer(askedQuestion(), 'blue', blue);
    expect(entry).toMatchObject({ state: 'refused', waited: true, problem: { code: 'question_closed', detail: 'refused: question_closed' } });
    expect(page.shownQuestion('q_1')).toEqual(closed);
    setOnline(true);
    await page.flush();
    expect(states(page)).toEqual(['blue: refused']);
    expect(browser.server.calls).toHaveLength(1);
    await page.dismiss(entry);
    expect(page.outbox()).toEqual([]);
  });

  it('of a session that ended waits until its author signs in again', async () => {
    const page = await browser.openPage('ann');
    await page.startOutbox();
    browser.server.refuse(401, 'unauthenticated');
    const entry = await page.sendAnswer(askedQuestion(), 'blue', blue);
    expect(entry.state).toBe('queued');
    page.signIn('ann');
    await vi.waitFor(() => expect(states(page)).toEqual(['blue: accepted']));
    expect(browser.server.calls.map(({ key }) => key)).toEqual([entry.key, entry.key]);
  });

  it('waits while another person is signed in', async () => {
    const page = await browser.openPage('ann');
    setOnline(false);
    await page.sendAnswer(askedQuestion(), 'blue', blue);
    page.signIn('ben');
    setOnline(true);
    await page.flush();
    expect(states(page)).toEqual(['blue: queued']);
    expect(browser.server.calls).toEqual([]);
  });

  it('is neither shown to another person nor sent in their name', async () => {
    const before = await browser.openPage('ann');
    setOnline(false);
    await before.sendAnswer(askedQuestion(), 'blue', blue);
    setOnline(true);
    localStorage.setItem('fermata.owner', 'ben');
    const ben = await browser.openPage('ben');
    await ben.startOutbox();
    await ben.flush();
    expect(ben.outbox()).toEqual([]);
    expect(browser.server.calls).toEqual([]);
    localStorage.setItem('fermata.owner', 'ann');
    const ann = await browser.openPage('ann');
    expect((await ann.loadUnsent()).map(({ said }) => said)).toEqual(['blue']);
  });
});

describe('several answers', () => {
  /** Gives two answers in the same millisecond, as a batch of approvals does. */
  async function queueTwo() {
    const page = await browser.openPage('ann');
    vi.useFakeTimers({ toFake: ['Date'] });
    setOnline(false);
    await page.sendAnswer(askedQuestion(), 'blue', blue);
    await page.sendAnswer(askedQuestion({ id: 'q_2' }), 'red', { answers: { colour: 'red' } });
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(true);
    return page;
  }
  const paths = () => browser.server.calls.map(({ path }) => path);

  it('are sent in the order in which they were given', async () => {
    const page = await queueTwo();
    await page.flush();
    expect(paths()).toEqual(['/v1/questions/q_1/answer', '/v1/questions/q_2/answer']);
    expect(states(page)).toEqual(['blue: accepted', 'red: accepted']);
  });

  it('wait for the connection behind the first one', async () => {
    const page = await queueTwo();
    browser.server.cutConnection();
    await page.flush();
    expect(paths()).toEqual(['/v1/questions/q_1/answer']);
    expect(states(page)).toEqual(['blue: queued', 'red: queued']);
  });

  it('do not wait behind one that is refused', async () => {
    const page = await queueTwo();
    browser.server.refuse(403, 'not_eligible');
    await page.flush();
    expect(states(page)).toEqual(['blue: refused', 'red: accepted']);
  });
});
