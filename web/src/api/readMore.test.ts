import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { readMore } from './readMore';

/** Returns a list of three pages. The test decides when the read of each page is answered. */
function listed() {
  const client = new QueryClient();
  const asked: { page: number; answer: () => void }[] = [];
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ['list'],
    queryFn: ({ pageParam }: { pageParam: number }) => new Promise<number>((resolve) => asked.push({ page: pageParam, answer: () => resolve(pageParam) })),
    initialPageParam: 0,
    getNextPageParam: (last: number) => (last < 2 ? last + 1 : undefined),
  });
  observer.subscribe(() => undefined);
  const answerAll = async () => {
    while (asked.length > 0) {
      asked.shift()?.answer();
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  const settle = async (work: Promise<void>) => {
    const state = { done: false };
    void work.finally(() => (state.done = true));
    while (!state.done) await answerAll();
  };
  return { client, observer, asked, answerAll, settle };
}

it('reads a page although news makes the list be read again', async () => {
  const { client, observer, asked, answerAll, settle } = listed();
  await answerAll();
  const more = readMore(observer.getCurrentResult());
  expect(asked.map(({ page }) => page)).toEqual([1]);
  void client.invalidateQueries({ queryKey: ['list'] });
  await settle(more);
  expect(observer.getCurrentResult().data?.pages).toEqual([0, 1]);
});

it('ends where there is no further page', async () => {
  const { observer, answerAll, settle } = listed();
  await answerAll();
  for (let n = 0; n < 3; n++) await settle(readMore(observer.getCurrentResult()));
  expect(observer.getCurrentResult().data?.pages).toEqual([0, 1, 2]);
});
