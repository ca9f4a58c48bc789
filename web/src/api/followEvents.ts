import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query';
import { onEvent } from './live';
import { receivedSinceRead, refetchQueries } from './reads';
import type { EventType } from './types';

// followEvents reads queries again after the events that concern them, and
// reads long lists less often. It is for lists that are read page by page, and
// for the data of one task or run. refreshByEvents leaves these queries alone:
// their keys are not in its table (live.ts).

const minDelay = 250;
/**
 * The additional delay for each page after the first, in milliseconds. Reading
 * a list again takes one request for each page, and this must not keep the
 * server busy.
 */
const delayPerPage = 400;

/** Returns how long to collect events before queries are read again, in milliseconds. */
export function refetchDelay(pages: number): number {
  return minDelay + Math.max(0, pages - 1) * delayPerPage;
}

function countPages(client: QueryClient, key: QueryKey): number {
  const shown = client.getQueryCache().findAll({ queryKey: key, type: 'active' });
  return Math.max(1, ...shown.map((query) => (query.state.data as Partial<InfiniteData<unknown>> | undefined)?.pages?.length ?? 1));
}

/**
 * Reads the queries below a key again after relevant events, until the returned
 * function is called. A burst of events causes one read. Events that came after
 * the last read of the queries count as well.
 */
export function followEvents(client: QueryClient, key: QueryKey, isRelevant: (type: EventType, task: string | undefined) => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const scheduleRead = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      refetchQueries(client, key);
    }, refetchDelay(countPages(client, key)));
  };
  const stop = onEvent((event) => {
    if (isRelevant(event.type, event.task_id)) scheduleRead();
  });
  const missed = receivedSinceRead(client, key);
  if (!missed || missed.some((event) => isRelevant(event.type, event.task_id))) scheduleRead();
  return () => {
    stop();
    clearTimeout(timer);
  };
}
