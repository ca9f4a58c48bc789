import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { keepHeard } from './heard';
import { heardSince, noteReads, readAgain } from './reads';
import type { Event } from './types';

/** Returns a query that is answered when the test says so. */
function shown() {
  const client = new QueryClient();
  noteReads(client);
  const reads: (() => void)[] = [];
  const observer = new QueryObserver(client, { queryKey: ['one'], queryFn: () => new Promise<number>((resolve) => reads.push(() => resolve(reads.length))) });
  observer.subscribe(() => undefined);
  const answer = async () => {
    reads.at(-1)?.();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { client, reads, observer, answer };
}

const event = (seq: number) => ({ seq, type: 'task.ended', task_id: 'task_1' }) as Event;

it('repeats a first read during which something happened, once', async () => {
  const { client, reads, observer, answer } = shown();
  readAgain(client, ['one']);
  readAgain(client, []);
  expect(reads.length).toBe(1);
  await answer();
  expect(reads.length).toBe(2);
  await answer();
  expect(reads.length).toBe(2);
  expect(observer.getCurrentResult().data).toBe(2);
});

it('knows what was heard since a query was read', async () => {
  keepHeard(event(1));
  const { client, answer } = shown();
  keepHeard(event(2));
  await answer();
  keepHeard(event(3));
  expect(heardSince(client, ['one'])?.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(heardSince(client, ['another'])).toEqual([]);
  void client.invalidateQueries({ queryKey: ['one'] });
  expect(heardSince(client, ['one'])).toEqual([]);
});

it('says when it does not know all of it any more', () => {
  const { client } = shown();
  for (let seq = 10; seq < 1_100; seq++) keepHeard(event(seq));
  expect(heardSince(client, ['one'])).toBeUndefined();
});
