import type { paths } from '@/api/schema';

/** The filters of the inbox, as they stand in the address. */
export type Filter = Record<string, string | undefined>;
type Query = NonNullable<paths['/v1/questions']['get']['parameters']['query']>;

const names = ['type', 'project', 'urgency', 'risk', 'assignee', 'label', 'q', 'show'] as const;

/** The parts of an address that filter; the rest is for other things. */
export function filterOf(search: Filter): Filter {
  return Object.fromEntries(names.filter((name) => search[name]).map((name) => [name, search[name]]));
}

export const isFiltered = (filter: Filter) => Object.keys(filter).length > 0;

/** The filters as the API takes them. */
export function queryOf(filter: Filter): Query {
  const { show, ...rest } = filter;
  return {
    ...(rest as Query),
    status: 'pending',
    ...(show === 'all' ? {} : { for: 'me' }),
    ...(show === 'snoozed' ? { snoozed: true } : {}),
  };
}

/** The filters by which questions are counted: all but the text. */
export function countsOf(filter: Filter) {
  const { status: _, q: _q, snoozed: _s, ...rest } = queryOf(filter);
  return rest;
}
