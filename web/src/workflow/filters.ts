import type { Step, Trigger, Run } from './types';

export const triggerTypes = ['manual', 'schedule', 'webhook', 'label_added', 'deployment', 'event', 'workflow'] as const;
export type TriggerType = Run['trigger'] | Trigger['type'];

/** The states of runs, grouped as people pick them. */
export const stateGroups = {
  needs: ['awaiting_input', 'awaiting_approval'],
  working: ['open', 'in_progress', 'input_received', 'blocked', 'deferred'],
  done: ['done'],
  failed: ['failed'],
  skipped: ['skipped'],
  cancelled: ['cancelled'],
} as const satisfies Record<string, readonly Run['state'][]>;
export type StateGroup = keyof typeof stateGroups;

/** The filters of runs, as the address gives them. */
export interface RunFilters {
  workflow: string;
  stateGroup?: StateGroup;
  trigger?: Run['trigger'];
}

export type Search = Partial<Record<string, string>>;

export function filtersOf({ workflow, state, trigger }: Search): RunFilters {
  return {
    workflow: workflow ?? '',
    stateGroup: (Object.keys(stateGroups) as StateGroup[]).find((each) => each === state),
    trigger: triggerTypes.find((each) => each === trigger),
  };
}

/** Returns the filters as the server takes them. */
export function queryOf({ workflow, stateGroup, trigger }: RunFilters) {
  return { workflow: workflow || undefined, state: stateGroup ? [...stateGroups[stateGroup]] : undefined, trigger };
}

export const isEnded = (state: Step['state']) => state !== 'running' && state !== 'waiting';
export const isRunEnded = (state: Run['state']) => state === 'done' || state === 'failed' || state === 'cancelled' || state === 'skipped';
