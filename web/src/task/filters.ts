import type { Task } from '@/api/types';

/** A column of the board. Together the columns hold every task. */
export type Column = 'ready' | 'working' | 'needs_person' | 'done';
export type State = Task['state'];

/** The states of each column, the same as on the server. */
export const columnStates: Record<Column, State[]> = {
  ready: ['open', 'input_received', 'blocked', 'deferred'],
  working: ['in_progress'],
  needs_person: ['awaiting_input', 'awaiting_approval'],
  done: ['done', 'failed', 'cancelled', 'skipped'],
};
export const columns = Object.keys(columnStates) as Column[];

export function columnOf(state: State): Column {
  return columns.find((column) => columnStates[column].includes(state)) ?? 'ready';
}

export const views = ['list', 'board', 'tree'] as const;
export type View = (typeof views)[number];

export const sorts = ['newest', 'oldest', 'priority', 'updated'] as const;
export type Sort = (typeof sorts)[number];

/** The states that people can pick: whole columns, and single states within them. */
export const stateGroups = ['ready', 'working', 'needs_person', 'done', 'blocked', 'deferred', 'failed', 'cancelled', 'skipped'] as const;
export type StateGroup = (typeof stateGroups)[number];

/** The filters and the order of tasks, as the address gives them. */
export interface Filters {
  q: string;
  project: string;
  agent: string;
  label: string;
  parent: string;
  stateGroup?: StateGroup;
  sort: Sort;
}

export type Search = Record<string, string | undefined>;

const findIn = <T extends string>(list: readonly T[], value: string | undefined) => list.find((known) => known === value);

/** Reads the filters from an address. Unknown values are left out. */
export function filtersOf(search: Search): Filters {
  return {
    q: search.q ?? '',
    project: search.project ?? '',
    agent: search.agent ?? '',
    label: search.label ?? '',
    parent: search.parent ?? '',
    stateGroup: findIn(stateGroups, search.is),
    sort: findIn(sorts, search.sort) ?? 'newest',
  };
}

export const viewOf = (search: Search): View => findIn(views, search.view) ?? 'list';
export const columnFrom = (search: Search): Column | undefined => findIn(columns, search.column);

/** Returns how many filters narrow the list. The order is not a filter. */
export function countFilters(filters: Filters): number {
  return [filters.q, filters.project, filters.agent, filters.label, filters.parent, filters.stateGroup].filter(Boolean).length;
}

const isColumn = (group: StateGroup): group is Column & StateGroup => group in columnStates;

export function statesOf(group: StateGroup | undefined): State[] {
  if (!group) return [];
  return isColumn(group) ? columnStates[group] : [group];
}

/** Returns the states of a column that the filters allow, or undefined if there are none. */
export function statesIn(column: Column, filters: Filters): State[] | undefined {
  const wanted = statesOf(filters.stateGroup);
  const states = columnStates[column].filter((state) => wanted.length === 0 || wanted.includes(state));
  return states.length > 0 ? states : undefined;
}

/** Returns the filters as the server reads them. */
export function queryOf(filters: Filters, states = statesOf(filters.stateGroup)) {
  const { q, project, agent, label, parent } = filters;
  const given = Object.entries({ q, project, agent, label, parent }).filter(([, value]) => value !== '');
  return { ...(Object.fromEntries(given) as Partial<Record<'q' | 'project' | 'agent' | 'label' | 'parent', string>>), ...(states.length > 0 && { state: states }) };
}
