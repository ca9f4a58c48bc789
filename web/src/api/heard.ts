import type { Event } from './types';

/** The part of an event that this page remembers. */
export type Heard = Pick<Event, 'seq' | 'type' | 'task_id' | 'question_id'>;

const mostKept = 1_000;
let kept: Heard[] = [];
let last = 0;

/** Returns the number of the last event that this page received, or 0 before the first. */
export const lastHeard = () => last;

/** Keeps an event. Returns false if the page has received it before. */
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

/** Returns the events after this number that the page received, or undefined if it has already dropped some of them. */
export function heardAfter(seq: number): readonly Heard[] | undefined {
  if (kept.length === mostKept && seq < (kept[0]?.seq ?? 0)) return undefined;
  return kept.filter((event) => event.seq > seq);
}
