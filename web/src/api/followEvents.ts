import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query';
import { onEvent } from './live';
import { receivedSinceRead, refetchQueries } from './reads';

// Lists that are read page by page, and all data about one thing, are read
// again by rules of their own. They are not read after every event, but at a
// pace that fits their size. refreshByEvents does not know their keys.

const minDelay = 250;
/**
 * The delay for each further page, in milliseconds. A long list is read again
 * page by page, and this must not keep the server busy.
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
 * Reads queries again after events that matter to them. A burst of events
 * causes one read. Events that came since the queries were read count as well.
 */
export function followEvents(client: QueryClient, key: QueryKey, isRelevant: (type: string, task: string | undefined) => boolean): () => void {
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
