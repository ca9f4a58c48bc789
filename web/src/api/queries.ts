import { queryOptions, QueryClient } from '@tanstack/react-query';
import { recordOwner } from '@/offline/owner';
import { deleteStoredInbox } from '@/offline/storedInbox';
import { api, unwrap } from './client';
import { asProblem } from './problem';
import { recordReads } from './reads';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Live events mark most queries as stale before this time.
      staleTime: 30_000,
      // The API client itself repeats temporary failures.
      retry: (count, error) => count < 1 && asProblem(error).offline,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

recordReads(queryClient);

/**
 * The address that the page is about to load. This page still runs until the next one has loaded. A later call of
 * leavePage must not change the destination.
 */
let destination: string | undefined;

/**
 * Leaves the page, because another person is signed in. It deletes the stored inbox of the previous person, and loads
 * `path`, or this page again if no path is given.
 */
export async function leavePage(path?: string): Promise<void> {
  destination ??= path;
  await deleteStoredInbox().catch(() => undefined);
  if (destination === undefined) location.reload();
  else if (destination === path) location.replace(path);
}

/** Reads which member is signed in. If the page belongs to another member, it is reloaded. */
export const whoamiQuery = queryOptions({
  queryKey: ['whoami'],
  queryFn: async () => {
    const me = await unwrap(api.GET('/v1/whoami'));
    if (!recordOwner(me.name)) void leavePage();
    return me;
  },
  staleTime: 5 * 60_000,
});

/** Calls the listener whenever the server has said who is signed in, until the returned function is called. */
export const onSignedIn = (listener: () => void): (() => void) =>
  queryClient.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'success' && event.query.queryHash === '["whoami"]') listener();
  });
