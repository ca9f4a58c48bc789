import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api, unwrap } from './client';
import { Problem } from './problem';

const reply = (status: number, body: unknown = {}, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });

describe('a call', () => {
  const sent: Request[] = [];
  let replies: (Response | Error)[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
    sent.length = 0;
    vi.stubGlobal('fetch', (request: Request) => {
      sent.push(request);
      const next = replies.shift();
      return next instanceof Response ? Promise.resolve(next) : Promise.reject(next ?? new TypeError('no network'));
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const answer = () => unwrap(api.POST('/v1/questions/{id}/answer', { params: { path: { id: 'q_1' } }, body: { answer: 'yes' } }));

  it('whose reply was lost is sent again with the same key', async () => {
    replies = [new TypeError('lost'), reply(503), reply(200, { id: 'q_1' })];
    const done = answer();
    await vi.runAllTimersAsync();
    await expect(done).resolves.toEqual({ id: 'q_1' });
    const keys = new Set(sent.map((request) => request.headers.get('Idempotency-Key')));
    expect(sent).toHaveLength(3);
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{32}$/);
  });

  it('ends as offline when nobody answers', async () => {
    replies = [];
    const done = answer().catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await done).toMatchObject({ code: 'offline', offline: true });
    expect(sent).toHaveLength(4);
  });

  it('throws what the server refused', async () => {
    replies = [reply(409, { code: 'question_closed', status: 409, detail: 'closed', question: { id: 'q_1' } })];
    const error = await answer().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: 'question_closed', status: 409, question: { id: 'q_1' } });
  });
});
