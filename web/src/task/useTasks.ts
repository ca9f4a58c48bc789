import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { taskListQuery } from './api';
import type { Filters, State } from './filters';
import { useSteadyList } from './steadyList';

/** Returns the tasks of one query, as far as its pages were read. The list is held still while the reader reads it. */
export function useTasks(filters: Filters, states: State[] | undefined, hold: boolean) {
  const query = useInfiniteQuery(taskListQuery(filters, states));
  const list = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const steady = useSteadyList(list, hold, JSON.stringify([filters, states]));
  return { ...steady, query, total: list.length };
}
