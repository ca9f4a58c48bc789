import { duration } from '@/text/time';
import { tookOf, type Items } from './progress';
import { useText } from './text';
import type { Step } from './types';

/** Writes a duration. Less than a second is written as "< 1 s", because nothing takes no time. */
export const long = (ms: number) => (ms < 1000 ? '< 1 s' : duration(ms));

/** Returns how long a step took, in words. */
export function took(step: Step, now: number): string {
  const ms = tookOf(step, now);
  return ms === undefined ? '' : long(ms);
}

export function useItemsWords() {
  const text = useText();
  return ({ all, done, failed }: Items) => text.items(all, done, failed);
}
