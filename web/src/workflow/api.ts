import { infiniteQueryOptions, keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, unwrap } from '@/api/client';
import { followEvents } from '@/api/followEvents';
import type { components } from '@/api/schema';
import { queryOf, type RunFilters } from './filters';
import type { JSONSchema } from './jsonSchema';
import type { ToolDefinition } from './types';

type Schemas = components['schemas'];

const workflowsKey = ['workflow-definitions'] as const;
const runsKey = ['workflow-runs'] as const;
const toolsKey = ['workflow-tools'] as const;

export const workflowsQuery = queryOptions({ queryKey: workflowsKey, queryFn: ({ signal }) => unwrap(api.GET('/v1/workflows', { signal })) });

export const workflowQuery = (name: string) =>
  queryOptions({
    queryKey: [...workflowsKey, 'one', name],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/workflows/{name}', { params: { path: { name } }, signal })),
  });

/** The runs, newest first. Lists are sent as a,b and not as repeated parameters. */
export const runsQuery = (filters: RunFilters, size: number) =>
  infiniteQueryOptions({
    queryKey: [...runsKey, 'list', size, filters],
    queryFn: ({ pageParam, signal }) =>
      unwrap(api.GET('/v1/workflow-runs', {
        params: { query: { ...queryOf(filters), limit: size, cursor: pageParam || undefined } },
        querySerializer: { array: { style: 'form', explode: false } },
        signal,
      })),
    initialPageParam: '',
    placeholderData: keepPreviousData,
    getNextPageParam: (page) => page.next_cursor,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [...runsKey, 'one', id],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/workflow-runs/{id}', { params: { path: { id } }, signal })),
  });

export const toolsQuery = queryOptions({ queryKey: toolsKey, queryFn: ({ signal }) => unwrap(api.GET('/v1/tools', { signal })) });
export const namedToolsQuery = queryOptions({ queryKey: [...toolsKey, 'named'], queryFn: ({ signal }) => unwrap(api.GET('/v1/named-tools', { signal })) });

const path = <P>(given: P) => ({ params: { path: given } });

export const validate = (source: string) => unwrap(api.POST('/v1/workflows/validate', { body: { source } }));
/** The result of checking a definition, before the reader changes it. */
export const validationQuery = (source: string) => queryOptions({ queryKey: ['workflow-validation', source], queryFn: () => validate(source) });
export const testWorkflow = (source: string, script: string) => unwrap(api.POST('/v1/workflows/test', { body: { source, script: script.trim() ? script : undefined } }));
/** The JSON Schema of definitions, which any editor may read. */
export const schemaQuery = queryOptions({
  queryKey: ['workflow-schema'],
  queryFn: async ({ signal }) => (await fetch('/schemas/workflow.json', { signal })).json() as Promise<JSONSchema>,
  staleTime: Infinity,
});
export const putWorkflow = (name: string, source: string) => unwrap(api.PUT('/v1/workflows/{name}', { ...path({ name }), body: { source } }));
export const enableWorkflow = (name: string) => unwrap(api.POST('/v1/workflows/{name}/enable', { ...path({ name }), body: {} }));
export const disableWorkflow = (name: string) => unwrap(api.POST('/v1/workflows/{name}/disable', { ...path({ name }), body: {} }));
export const removeWorkflow = (name: string) => unwrap(api.DELETE('/v1/workflows/{name}', path({ name })));
export const newSecret = (name: string) => unwrap(api.POST('/v1/workflows/{name}/webhook-secret', { ...path({ name }), body: {} }));
export const startRun = (name: string, inputs: Record<string, unknown>) => unwrap(api.POST('/v1/workflows/{name}/runs', { ...path({ name }), body: { inputs } }));
export const retryRun = (id: string, input?: unknown) => unwrap(api.POST('/v1/workflow-runs/{id}/retry', { ...path({ id }), body: input === undefined ? {} : { input } }));
export const rewindRun = (id: string, body: Schemas['RunRewind']) => unwrap(api.POST('/v1/workflow-runs/{id}/rewind', { ...path({ id }), body }));
export const moveRun = (id: string) => unwrap(api.POST('/v1/workflow-runs/{id}/move', { ...path({ id }), body: {} }));
export const putTool = (name: string, tool: ToolDefinition) => unwrap(api.PUT('/v1/tools/{name}', { ...path({ name }), body: tool }));
export const refreshTools = (name: string) => unwrap(api.POST('/v1/tools/{name}/refresh', path({ name })));
export const removeTool = (name: string) => unwrap(api.DELETE('/v1/tools/{name}', path({ name })));

/** The events that change the lists: of definitions, and of the states of runs. */
const listEvents = /^(workflow\.(changed|removed|triggered|rewound|moved)|task\.(created|state_changed|ended)|question\.(asked|answered|timed_out|cancelled))$/;

/** Reads the lists of workflows and runs again when they change. */
export function useLiveLists(): void {
  const client = useQueryClient();
  useEffect(() => {
    const matters = (type: string) => listEvents.test(type);
    const stops = [followEvents(client, workflowsKey, matters), followEvents(client, runsKey, matters)];
    return () => stops.forEach((stop) => stop());
  }, [client]);
}

/**
 * Reads a run again after events of the run or of the tasks that it created. Reads its workflow again after a workflow
 * was changed.
 */
export function useLiveRun(ids: readonly string[]): void {
  const client = useQueryClient();
  const all = ids.join(' ');
  useEffect(() => {
    const shown = new Set(all.split(' '));
    const stops = [
      followEvents(client, runsKey, (_, task) => task !== undefined && shown.has(task)), followEvents(client, workflowsKey, (type) => type === 'workflow.changed'),
    ];
    return () => stops.forEach((stop) => stop());
  }, [client, all]);
}

export function useLiveTools(): void {
  const client = useQueryClient();
  useEffect(() => followEvents(client, toolsKey, (type) => type.startsWith('workflow.tool_')), [client]);
}

/** Returns functions that read workflows, runs or tools again after a change from this page. */
export function useRefetch() {
  const client = useQueryClient();
  return {
    workflows: () => client.invalidateQueries({ queryKey: workflowsKey }),
    runs: () => client.invalidateQueries({ queryKey: runsKey }),
    tools: () => client.invalidateQueries({ queryKey: toolsKey }),
  };
}
