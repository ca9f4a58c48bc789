import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { components } from '@/api/schema';
import { queryOf, type Filters, type State } from './filters';

// live.ts reads these queries again: those of one task after the events of that
// task, and long lists less often. So their keys are not in the table of
// api/live.ts.

export type Run = components['schemas']['Run'];
export type Entry = components['schemas']['TimelineEntry'];
export type Waiting = components['schemas']['TaskWaiting'];
export type TaskCounts = components['schemas']['TaskCounts'];
export type NewTask = components['schemas']['NewTask'];
export type TaskPatch = components['schemas']['TaskPatch'];

export const taskListKey = ['task-lists'] as const;
export const anyTaskKey = ['task'] as const;
export const taskKey = (id: string) => [...anyTaskKey, id] as const;

/** Lists are sent as a,b and not as repeated parameters. */
const commas = { array: { style: 'form', explode: false } } as const;

export const listPageSize = 100;

export const taskListQuery = (filters: Filters, states?: State[]) =>
  infiniteQueryOptions({
    queryKey: [...taskListKey, filters, states ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET('/v1/tasks', {
          params: { query: { ...queryOf(filters, states), sort: filters.sort, limit: listPageSize, cursor: pageParam || undefined } },
          querySerializer: commas,
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
  });

export const taskCountsQuery = (filters: Filters) =>
  queryOptions({
    queryKey: [...taskListKey, 'counts', { ...filters, sort: 'newest' }],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tasks/counts', { params: { query: queryOf(filters) }, querySerializer: commas, signal })),
  });

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: taskKey(id),
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tasks/{id}', { params: { path: { id } }, signal })),
  });

export const timelinePageSize = 50;

/** The timeline of a task. Each further page is older. */
export const timelineQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...taskKey(id), 'timeline'],
    queryFn: ({ pageParam, signal }) =>
      unwrap(api.GET('/v1/tasks/{id}/timeline', { params: { path: { id }, query: { limit: timelinePageSize, cursor: pageParam || undefined } }, signal })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
  });

export const runsQuery = (id: string) =>
  queryOptions({
    queryKey: [...taskKey(id), 'runs'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tasks/{id}/runs', { params: { path: { id } }, signal })),
  });

export const treeQuery = (id: string) =>
  queryOptions({
    queryKey: [...taskKey(id), 'tree'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/tasks/{id}/tree', { params: { path: { id } }, signal })),
  });

const path = (id: string) => ({ params: { path: { id } } });

export const cancelTask = (id: string, reason: string) => unwrap(api.POST('/v1/tasks/{id}/cancel', { ...path(id), body: reason ? { reason } : {} }));
export const deferTask = (id: string, until: string | undefined) => unwrap(api.POST('/v1/tasks/{id}/defer', { ...path(id), body: until ? { until } : {} }));
export const pauseTask = (id: string) => unwrap(api.POST('/v1/tasks/{id}/pause', { ...path(id), body: {} }));
export const reopenTask = (id: string) => unwrap(api.POST('/v1/tasks/{id}/reopen', { ...path(id), body: {} }));
export const resumeTask = (id: string, message = '') => unwrap(api.POST('/v1/tasks/{id}/resume', { ...path(id), body: message ? { message } : {} }));
export const updateTask = (id: string, patch: TaskPatch) => unwrap(api.PATCH('/v1/tasks/{id}', { ...path(id), body: patch }));
export const sendMessage = (id: string, body: string) => unwrap(api.POST('/v1/tasks/{id}/messages', { ...path(id), body: { body } }));
export const createTask = (task: NewTask) => unwrap(api.POST('/v1/tasks', { body: task }));
