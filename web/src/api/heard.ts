import type { Event } from './types';

/** What is kept of an event that this page heard. */
export type Heard = Pick<Event, 'seq' | 'type' | 'task_id' | 'question_id'>;

const mostKept = 1_000;
let kept: Heard[] = [];
let last = 0;

/** The number of the last event that this page heard, 0 before the first. */
export const lastHeard = () => last;

/** Keeps an event. Returns false for one that was heard before. */
export function keepHeard({ seq, type, task_id, question_id }: Event): boolean {
  if (seq <= last) return false;
  last = seq;
  kept.push({ seq, type, task_id, question_id });
  if (kept.length > mostKept) kept.shift();
  return true;
}

/** Forgets all events, because some may have been missed. */
export function forgetHeard(): void {
  last = 0;
  kept = [];
}

/** The events that this page heard after that one; undefined if some of them are no longer kept. */
export function heardAfter(seq: number): readonly Heard[] | undefined {
  if (kept.length === mostKept && seq < (kept[0]?.seq ?? 0)) return undefined;
  return kept.filter((event) => event.seq > seq);
}
