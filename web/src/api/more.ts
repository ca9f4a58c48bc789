import type { FetchNextPageOptions, InfiniteData, InfiniteQueryObserverResult } from '@tanstack/react-query';

type Result = InfiniteQueryObserverResult<InfiniteData<unknown>>;

interface List {
  data: InfiniteData<unknown> | undefined;
  fetchNextPage: (options?: FetchNextPageOptions) => Promise<Result>;
}

/**
 * Reads the next page of a list. News can make the list be read again meanwhile, which ends the reading of the page: then
 * the page is read after that.
 */
export async function readMore({ data, fetchNextPage }: List): Promise<void> {
  const before = data?.pages.length ?? 0;
  for (;;) {
    const result = await fetchNextPage({ cancelRefetch: false });
    if (result.isError || !result.hasNextPage || (result.data?.pages.length ?? 0) > before) return;
  }
}
