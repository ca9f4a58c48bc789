import { queryOptions, QueryClient } from '@tanstack/react-query';
import { own } from '@/offline/kept';
import { forgetInbox } from '@/offline/last';
import { api, need } from './client';
import { asProblem } from './problem';
import { noteReads } from './reads';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Live events say when something changed.
      staleTime: 30_000,
      // The client itself repeats what may pass.
      retry: (count, error) => count < 1 && asProblem(error).offline,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

noteReads(queryClient);

/** Where the page is led. It lives on until the next one is there, and what it hears meanwhile does not lead it back. */
let destination: string | undefined;

/** Leaves what is on the page to whoever it was for, and loads the page that is for whoever is here now: this one, if no path is given. */
export async function startAnew(path?: string): Promise<void> {
  destination ??= path;
  await forgetInbox().catch(() => undefined);
  if (destination === undefined) location.reload();
  else if (destination === path) location.replace(path);
}

/** Who looks at the page. */
export const whoamiQuery = queryOptions({
  queryKey: ['whoami'],
  queryFn: async () => {
    const me = await need(api.GET('/v1/whoami'));
    if (!own(me.name)) void startAnew();
    return me;
  },
  staleTime: 5 * 60_000,
});
