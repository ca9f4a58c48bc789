import type { Run, Step } from './api';
import { isEnded } from './filters';
import { groupBy } from './group';

/** What became of a step, in all its occurrences: what the graph shows. */
export interface Progress {
  /** Its newest occurrence. */
  step: Step;
  /** How often the run came to it. */
  times: number;
  items: Items;
}

/** Where the items of a foreach stand. */
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

/** Steps in the order in which they began, each with its items. */
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

/** What became of each step that the run has come to. */
export function progressOf(steps: readonly Step[]): Map<string, Progress> {
  const found = new Map<string, Progress>();
  for (const { step, items } of entriesOf(steps)) {
    const before = found.get(step.step);
    if (before && before.step.occurrence > step.occurrence) continue;
    found.set(step.step, { step, times: Math.max(before?.times ?? 0, step.occurrence), items: countOf(items) });
  }
  return found;
}

/** The main steps that a run has come to, in the order of the definition. */
export function mainStepsOf(run: Run): string[] {
  const begun = new Set(run.steps?.map((step) => step.step));
  return run.graph?.nodes.filter((node) => node.kind !== 'timeout' && !node.phase && begun.has(node.id)).map((node) => node.id) ?? [];
}

/** How long a step took, or has taken so far; nothing for one that was passed over. */
export function tookOf(step: Pick<Step, 'state' | 'started_at' | 'ended_at'>, now: number): number | undefined {
  if (step.state === 'skipped') return undefined;
  const end = step.ended_at ? Date.parse(step.ended_at) : isEnded(step.state) ? undefined : now;
  return end === undefined ? undefined : Math.max(0, end - Date.parse(step.started_at));
}

/** Where a step stands on the page of its run. */
export const anchorOf = (step: Pick<Step, 'step' | 'occurrence'>) => `step-${step.step}-${step.occurrence}`;

/** The step that a run ended at, whose input another attempt may change. What is done about the end of a run may fail, too: it is not why. */
export function failedStep(run: Pick<Run, 'steps' | 'graph'>): Step | undefined {
  const ends = run.graph?.nodes.filter((node) => node.phase === 'on_failure' || node.phase === 'finally') ?? [];
  const after = new Set(['on_failure.comment', ...ends.map((node) => node.id)]);
  const failed = (run.steps ?? []).filter((step) => step.item === undefined && (step.state === 'failed' || step.state === 'rejected' || step.state === 'cancelled'));
  return failed.findLast((step) => !after.has(step.step)) ?? failed.at(-1);
}

/** The tasks and runs that a run has made and waits for. */
export function childrenOf(run: Pick<Run, 'steps'>): string[] {
  return (run.steps ?? []).flatMap((step) => (step.child_id && !isEnded(step.state) ? [step.child_id] : []));
}
