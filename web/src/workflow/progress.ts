import { isEnded } from './filters';
import { groupBy } from '@/ui/groupBy';
import type { Run, Step } from './types';

/** The progress of a step over all its occurrences, as the graph shows it. */
export interface Progress {
  /** The newest occurrence of the step. */
  step: Step;
  /** The number of times that the run reached the step. */
  times: number;
  items: Items;
}

/** The number of items of a foreach: all, done, and failed. */
export interface Items {
  all: number;
  done: number;
  failed: number;
}

/** A step in the timeline, with the items of its list. */
export interface Entry {
  step: Step;
  items: Step[];
}

/** Returns the steps in the order in which they began, each with its items. */
export function entriesOf(steps: readonly Step[]): Entry[] {
  const of = (step: Step) => `${step.step}/${step.occurrence}`;
  const items = groupBy(steps.filter((step) => step.item !== undefined), of);
  return steps
    .filter((step) => step.item === undefined)
    .map((step) => ({ step, items: (items.get(of(step)) ?? []).toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0)) }));
}

export function countOf(items: readonly Step[]): Items {
  return {
    all: items.length,
    done: items.filter((item) => item.state === 'done').length,
    failed: items.filter((item) => item.state === 'failed' || item.state === 'rejected').length,
  };
}

/** Returns the progress of each step that the run has reached. */
export function progressOf(steps: readonly Step[]): Map<string, Progress> {
  const found = new Map<string, Progress>();
  for (const { step, items } of entriesOf(steps)) {
    const before = found.get(step.step);
    if (before && before.step.occurrence > step.occurrence) continue;
    found.set(step.step, { step, times: Math.max(before?.times ?? 0, step.occurrence), items: countOf(items) });
  }
  return found;
}

/** Returns the main steps that a run has reached, in the order of the definition. */
export function mainStepsOf(run: Run): string[] {
  const begun = new Set(run.steps?.map((step) => step.step));
  return run.graph?.nodes.filter((node) => node.kind !== 'timeout' && !node.phase && begun.has(node.id)).map((node) => node.id) ?? [];
}

/**
 * Returns how long a step took, or has taken so far, in milliseconds. Returns undefined for a step that was skipped.
 */
export function stepDuration(step: Pick<Step, 'state' | 'started_at' | 'ended_at'>, now: number): number | undefined {
  if (step.state === 'skipped') return undefined;
  const end = step.ended_at ? Date.parse(step.ended_at) : isEnded(step.state) ? undefined : now;
  return end === undefined ? undefined : Math.max(0, end - Date.parse(step.started_at));
}

/** Returns the id of a step's element on the page of its run. */
export const anchorOf = (step: Pick<Step, 'step' | 'occurrence'>) => `step-${step.step}-${step.occurrence}`;

/**
 * Returns the step at which a run failed, whose input a retry may change. Steps that handle the end of a run may fail,
 * too, but they are not the cause.
 */
export function failedStep(run: Pick<Run, 'steps' | 'graph'>): Step | undefined {
  const ends = run.graph?.nodes.filter((node) => node.phase === 'on_failure' || node.phase === 'finally') ?? [];
  const after = new Set(['on_failure.comment', ...ends.map((node) => node.id)]);
  const failed = (run.steps ?? []).filter((step) => step.item === undefined && (step.state === 'failed' || step.state === 'rejected' || step.state === 'cancelled'));
  return failed.findLast((step) => !after.has(step.step)) ?? failed.at(-1);
}

/** Returns the steps whose tasks and runs a run waits for. */
export function openSteps(run: Pick<Run, 'steps'>): Step[] {
  return (run.steps ?? []).filter((step) => step.child_id && !isEnded(step.state));
}

/** Returns the ids of the tasks and runs that a run has created and waits for. */
export function childrenOf(run: Pick<Run, 'steps'>): string[] {
  return openSteps(run).flatMap((step) => step.child_id ?? []);
}
