import type { Query, QueryClient, QueryKey } from '@tanstack/react-query';
import { receivedAfter, lastReceivedSeq, type ReceivedEvent } from './receivedEvents';

// A page shows data that was read at some time. Events may come during the
// read, or while no component shows the data. They are not lost, because this
// file stores the last event before each read.

/** The number of the last event that the page had received when the latest read of a query began. */
const seqBeforeRead = new WeakMap<Query, number>();
/** Queries whose first read is in progress, and whose result may be older than an event that came since. */
const outdatedQueries = new WeakSet<Query>();

/**
 * Records the last event before each read of a query, until the returned function is called. It also repeats a first
 * read whose result is outdated.
 */
export function recordReads(client: QueryClient): () => void {
  return client.getQueryCache().subscribe((change) => {
    if (change.type !== 'updated') return;
    const query = change.query as Query;
    if (change.action.type === 'fetch') seqBeforeRead.set(query, lastReceivedSeq());
    if (change.action.type === 'success' && outdatedQueries.delete(query)) void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  });
}

/**
 * Reads the queries below a key again. A first read that is in progress cannot
 * be cancelled, so it is repeated when it has ended.
 */
export function refetchQueries(client: QueryClient, queryKey: QueryKey): void {
  for (const query of client.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })) {
    if (query.state.data === undefined) outdatedQueries.add(query);
  }
  void client.invalidateQueries({ queryKey });
}

/**
 * Returns the events that came after the oldest read of the queries below a key, or undefined if some of these events
 * were already dropped.
 */
export function receivedSinceRead(client: QueryClient, queryKey: QueryKey): readonly ReceivedEvent[] | undefined {
  const shown = client.getQueryCache().findAll({ queryKey }).filter((query) => query.isActive() || !query.state.isInvalidated);
  return receivedAfter(Math.min(...shown.map((query) => seqBeforeRead.get(query) ?? lastReceivedSeq())));
}
