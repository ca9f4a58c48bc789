import type { paths } from '@/api/schema';

/** The filters of the inbox, as they are kept in the address. */
export type Filter = Record<string, string | undefined>;
type Query = NonNullable<paths['/v1/questions']['get']['parameters']['query']>;

const names = ['type', 'project', 'urgency', 'risk', 'assignee', 'label', 'q', 'show'] as const;

/** Returns the filters of an address without its other parts. */
export function filterOf(search: Filter): Filter {
  return Object.fromEntries(names.filter((name) => search[name]).map((name) => [name, search[name]]));
}

export const isFiltered = (filter: Filter) => Object.keys(filter).length > 0;

/** Returns the filters as the API takes them, without an order. */
export function queryOf(filter: Filter): Query {
  const { show, ...rest } = filter;
  return {
    ...(rest as Query),
    status: 'pending',
    ...(show === 'all' ? {} : { for: 'me' }),
    ...(show === 'snoozed' ? { snoozed: true } : {}),
  };
}
