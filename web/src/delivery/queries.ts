import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Delivery } from '@/api/types';

/** The refetch interval for messages that will be tried again, in milliseconds. Their changes cause no event. */
const refreshInterval = 5_000;
const intervalFor = (items: readonly Delivery[] | undefined) => (items?.some(({ state, next_at }) => next_at !== undefined && state !== 'dead') ? refreshInterval : false);

/** The messages about one question. */
export const questionDeliveriesQuery = (question: string) =>
  queryOptions({
    queryKey: ['deliveries', 'of', question],
    queryFn: () => unwrap(api.GET('/v1/deliveries', { params: { query: { question_id: question, limit: 100 } } })),
    refetchInterval: ({ state: { data } }) => intervalFor(data?.items),
  });

export interface LogFilter {
  channel?: string;
  state?: Delivery['state'];
}

/** All messages, page by page. */
export const deliveryLogQuery = (filter: LogFilter) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', 'log', filter],
    queryFn: ({ pageParam }) => unwrap(api.GET('/v1/deliveries', { params: { query: { ...filter, limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: ({ state: { data } }) => intervalFor(data?.pages.flatMap(({ items }) => items)),
  });

/** One message with its history and its content. */
export const deliveryQuery = (id: string) =>
  queryOptions({ queryKey: ['deliveries', 'one', id], queryFn: () => unwrap(api.GET('/v1/deliveries/{id}', { params: { path: { id } } })) });
