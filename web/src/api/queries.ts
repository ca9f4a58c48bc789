import { queryOptions, QueryClient } from '@tanstack/react-query';
import { own } from '@/offline/kept';
import { forgetInbox } from '@/offline/last';
import { api, need } from './client';
import { asProblem } from './problem';

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

/** Leaves what is on the page to whoever it was for, and loads the page that is for whoever is here now. */
export async function startAnew(path = location.href): Promise<void> {
  await forgetInbox().catch(() => undefined);
  if (path === location.href) location.reload();
  else location.replace(path);
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
