import type { Query, QueryClient, QueryKey } from '@tanstack/react-query';
import { heardAfter, lastHeard, type Heard } from './heard';

// What a page shows was read at some time, and events may come while it is read,
// or while nobody shows it. They are not lost: each query knows after which event
// its data was read.

/** The last event that the page had heard when the latest read of a query began. */
const readAfter = new WeakMap<Query, number>();
/** Queries whose first read is under way, and may be older than what was heard since. */
const outdated = new WeakSet<Query>();

/** Notes when the queries of a client are read. */
export function noteReads(client: QueryClient): () => void {
  return client.getQueryCache().subscribe((change) => {
    if (change.type !== 'updated') return;
    const query = change.query as Query;
    if (change.action.type === 'fetch') readAfter.set(query, lastHeard());
    if (change.action.type === 'success' && outdated.delete(query)) void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  });
}

/**
 * Reads the queries below a key again. A first read that is under way cannot be
 * cut short, so it is repeated when it has ended.
 */
export function readAgain(client: QueryClient, queryKey: QueryKey): void {
  for (const query of client.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })) {
    if (query.state.data === undefined) outdated.add(query);
  }
  void client.invalidateQueries({ queryKey });
}

/** The events since the queries below a key were read; undefined if some of them are no longer kept. */
export function heardSince(client: QueryClient, queryKey: QueryKey): readonly Heard[] | undefined {
  const shown = client.getQueryCache().findAll({ queryKey }).filter((query) => query.isActive() || !query.state.isInvalidated);
  return heardAfter(Math.min(...shown.map((query) => readAfter.get(query) ?? lastHeard())));
}
