import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query';
import { onEvent } from './live';
import { heardSince, readAgain } from './reads';

// Lists that are read page by page, and all data about one thing, are read
// again by rules of their own. They are not read after every event, but at a
// pace that fits their size. refreshByEvents does not know their keys.

const soonest = 250;
/**
 * The delay for each further page, in milliseconds. A long list is read again
 * page by page, and this must not keep the server busy.
 */
const perPage = 400;

/** Returns how long to collect events before queries are read again, in milliseconds. */
export function pace(pages: number): number {
  return soonest + Math.max(0, pages - 1) * perPage;
}

function pagesBehind(client: QueryClient, key: QueryKey): number {
  const shown = client.getQueryCache().findAll({ queryKey: key, type: 'active' });
  return Math.max(1, ...shown.map((query) => (query.state.data as Partial<InfiniteData<unknown>> | undefined)?.pages?.length ?? 1));
}

/**
 * Reads queries again after events that matter to them. A burst of events
 * causes one read. Events that came since the queries were read count as well.
 */
export function follow(client: QueryClient, key: QueryKey, matters: (type: string, task: string | undefined) => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const readSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      readAgain(client, key);
    }, pace(pagesBehind(client, key)));
  };
  const stop = onEvent((event) => {
    if (matters(event.type, event.task_id)) readSoon();
  });
  const missed = heardSince(client, key);
  if (!missed || missed.some((event) => matters(event.type, event.task_id))) readSoon();
  return () => {
    stop();
    clearTimeout(timer);
  };
}
