import { duration } from '@/text/time';
import { stepDuration, type Items } from './progress';
import { useText } from './text';
import type { Step } from './types';

/** Writes a duration. Less than a second is written as "< 1 s", because nothing takes no time. */
export const durationText = (ms: number) => (ms < 1000 ? '< 1 s' : duration(ms));

/** Returns how long a step took, in words. */
export function stepDurationText(step: Step, now: number): string {
  const ms = stepDuration(step, now);
  return ms === undefined ? '' : durationText(ms);
}

export function useItemsWords() {
  const text = useText();
  return ({ all, done, failed }: Items) => text.items(all, done, failed);
}
