import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { queryOf, type Looked } from './period';

/** Reads a report as JSON. Only the file for download is CSV. */
async function report<T>(call: Promise<{ data?: T | string; error?: unknown; response: Response }>): Promise<T> {
  const found = await unwrap(call);
  if (typeof found === 'string') throw new Error('the report is no JSON');
  return found;
}

const common = { staleTime: 60_000, placeholderData: keepPreviousData } as const;

export const summaryQuery = (looked: Looked) =>
  queryOptions({ ...common, queryKey: ['analytics', 'summary', looked], queryFn: () => report(api.GET('/v1/analytics/summary', { params: { query: queryOf(looked, new Date()).query } })) });

export const seriesQuery = (looked: Looked) =>
  queryOptions({
    ...common, queryKey: ['analytics', 'series', looked],
    queryFn: () => {
      const { query, interval } = queryOf(looked, new Date());
      return report(api.GET('/v1/analytics/series', { params: { query: { ...query, interval } } }));
    },
  });

export const projectsReport = (looked: Looked) =>
  queryOptions({ ...common, queryKey: ['analytics', 'projects', looked], queryFn: () => report(api.GET('/v1/analytics/projects', { params: { query: queryOf(looked, new Date()).query } })) });

export const questionsReport = (looked: Looked) =>
  queryOptions({ ...common, queryKey: ['analytics', 'questions', looked], queryFn: () => report(api.GET('/v1/analytics/questions', { params: { query: { ...queryOf(looked, new Date()).query, limit: 20 } } })) });

export const respondersReport = (looked: Looked) =>
  queryOptions({ ...common, queryKey: ['analytics', 'responders', looked], queryFn: () => report(api.GET('/v1/analytics/responders', { params: { query: queryOf(looked, new Date()).query } })) });

/** Returns the address of a report as a CSV file. */
export function csvOf(name: 'summary' | 'series' | 'projects' | 'questions' | 'responders', looked: Looked): string {
  const { query, interval } = queryOf(looked, new Date());
  return `/v1/analytics/${name}?${new URLSearchParams({ ...query, ...(name === 'series' ? { interval } : {}), format: 'csv' }).toString()}`;
}
