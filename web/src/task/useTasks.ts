import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { taskListQuery } from './api';
import type { Filters, State } from './filters';
import { useSteady } from './steady';

/** The tasks of one query, as far as they were asked for, held still while somebody reads them. */
export function useTasks(filters: Filters, states: State[] | undefined, hold: boolean) {
  const query = useInfiniteQuery(taskListQuery(filters, states));
  const list = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const steady = useSteady(list, hold, JSON.stringify([filters, states]));
  return { ...steady, query, total: list.length };
}
