import type { Event } from './types';

/** The part of an event that this page remembers. */
export type ReceivedEvent = Pick<Event, 'seq' | 'type' | 'task_id' | 'question_id'>;

const maxKept = 1_000;
let kept: ReceivedEvent[] = [];
let lastSeq = 0;

/** Returns the number of the last event that this page received, or 0 before the first. */
export const lastReceivedSeq = () => lastSeq;

/** Remembers an event. Returns false if the page has received it before. */
export function recordReceived({ seq, type, task_id, question_id }: Event): boolean {
  if (seq <= lastSeq) return false;
  lastSeq = seq;
  kept.push({ seq, type, task_id, question_id });
  if (kept.length > maxKept) kept.shift();
  return true;
}

/** Forgets all events, because some may have been missed. */
export function forgetReceived(): void {
  lastSeq = 0;
  kept = [];
}

/** Returns the events after this number that the page received, or undefined if it has already dropped some of them. */
export function receivedAfter(seq: number): readonly ReceivedEvent[] | undefined {
  if (kept.length === maxKept && seq < (kept[0]?.seq ?? 0)) return undefined;
  return kept.filter((event) => event.seq > seq);
}
