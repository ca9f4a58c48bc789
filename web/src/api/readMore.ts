import type { FetchNextPageOptions, InfiniteData, InfiniteQueryObserverResult } from '@tanstack/react-query';

type Result = InfiniteQueryObserverResult<InfiniteData<unknown>>;

interface List {
  data: InfiniteData<unknown> | undefined;
  fetchNextPage: (options?: FetchNextPageOptions) => Promise<Result>;
}

/**
 * Reads the next page of a list. An event can make the client read the list again, which cancels the read of the page.
 * In that case, readMore reads the page once more.
 */
export async function readMore({ data, fetchNextPage }: List): Promise<void> {
  const before = data?.pages.length ?? 0;
  for (;;) {
    const result = await fetchNextPage({ cancelRefetch: false });
    if (result.isError || !result.hasNextPage || (result.data?.pages.length ?? 0) > before) return;
  }
}
