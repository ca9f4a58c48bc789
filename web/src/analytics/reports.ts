import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { queryOf, type ReportFilters } from './period';

/** Reads a report as JSON. Only the download is CSV. */
async function readReport<T>(call: Promise<{ data?: T | string; error?: unknown; response: Response }>): Promise<T> {
  const found = await unwrap(call);
  if (typeof found === 'string') throw new Error('the report is no JSON');
  return found;
}

const sharedOptions = { staleTime: 60_000, placeholderData: keepPreviousData } as const;

export const summaryQuery = (filters: ReportFilters) =>
  queryOptions({ ...sharedOptions, queryKey: ['analytics', 'summary', filters], queryFn: () => readReport(api.GET('/v1/analytics/summary', { params: { query: queryOf(filters, new Date()).query } })) });

export const seriesQuery = (filters: ReportFilters) =>
  queryOptions({
    ...sharedOptions, queryKey: ['analytics', 'series', filters],
    queryFn: () => {
      const { query, interval } = queryOf(filters, new Date());
      return readReport(api.GET('/v1/analytics/series', { params: { query: { ...query, interval } } }));
    },
  });

export const projectsReport = (filters: ReportFilters) =>
  queryOptions({ ...sharedOptions, queryKey: ['analytics', 'projects', filters], queryFn: () => readReport(api.GET('/v1/analytics/projects', { params: { query: queryOf(filters, new Date()).query } })) });

export const questionsReport = (filters: ReportFilters) =>
  queryOptions({ ...sharedOptions, queryKey: ['analytics', 'questions', filters], queryFn: () => readReport(api.GET('/v1/analytics/questions', { params: { query: { ...queryOf(filters, new Date()).query, limit: 20 } } })) });

export const respondersReport = (filters: ReportFilters) =>
  queryOptions({ ...sharedOptions, queryKey: ['analytics', 'responders', filters], queryFn: () => readReport(api.GET('/v1/analytics/responders', { params: { query: queryOf(filters, new Date()).query } })) });

/** Returns the address of a report as a CSV file. */
export function csvOf(name: 'summary' | 'series' | 'projects' | 'questions' | 'responders', filters: ReportFilters): string {
  const { query, interval } = queryOf(filters, new Date());
  return `/v1/analytics/${name}?${new URLSearchParams({ ...query, ...(name === 'series' ? { interval } : {}), format: 'csv' }).toString()}`;
}
