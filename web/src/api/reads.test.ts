import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { recordReceived } from './receivedEvents';
import { receivedSinceRead, recordReads, refetchQueries } from './reads';
import type { Event } from './types';

/** Returns a query. The test decides when its latest read is answered. */
function shown() {
  const client = new QueryClient();
  recordReads(client);
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
  refetchQueries(client, ['one']);
  refetchQueries(client, []);
  expect(reads.length).toBe(1);
  await answer();
  expect(reads.length).toBe(2);
  await answer();
  expect(reads.length).toBe(2);
  expect(observer.getCurrentResult().data).toBe(2);
});

it('knows what was heard since a query was read', async () => {
  recordReceived(event(1));
  const { client, answer } = shown();
  recordReceived(event(2));
  await answer();
  recordReceived(event(3));
  expect(receivedSinceRead(client, ['one'])?.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(receivedSinceRead(client, ['another'])).toEqual([]);
  void client.invalidateQueries({ queryKey: ['one'] });
  expect(receivedSinceRead(client, ['one'])).toEqual([]);
});

it('says when it does not know all of it any more', () => {
  const { client } = shown();
  for (let seq = 10; seq < 1_100; seq++) recordReceived(event(seq));
  expect(receivedSinceRead(client, ['one'])).toBeUndefined();
});
