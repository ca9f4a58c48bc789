import { queryOptions, QueryClient } from '@tanstack/react-query';
import { own } from '@/offline/kept';
import { forgetInbox } from '@/offline/last';
import { api, need } from './client';
import { asProblem } from './problem';
import { noteReads } from './reads';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Live events report changes earlier.
      staleTime: 30_000,
      // The API client itself repeats temporary failures.
      retry: (count, error) => count < 1 && asProblem(error).offline,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

noteReads(queryClient);

/**
 * The address that the page is about to load. The page lives on until the next one is there. Nothing that it learns
 * meanwhile may lead it back.
 */
let destination: string | undefined;

/**
 * Leaves the page, because another person is signed in now. It deletes the stored inbox of the person before, and loads
 * `path`, or this page again if no path is given.
 */
export async function startAnew(path?: string): Promise<void> {
  destination ??= path;
  await forgetInbox().catch(() => undefined);
  if (destination === undefined) location.reload();
  else if (destination === path) location.replace(path);
}

/** Reads which member is signed in. If the page belongs to another member, it is loaded anew. */
export const whoamiQuery = queryOptions({
  queryKey: ['whoami'],
  queryFn: async () => {
    const me = await need(api.GET('/v1/whoami'));
    if (!own(me.name)) void startAnew();
    return me;
  },
  staleTime: 5 * 60_000,
});
