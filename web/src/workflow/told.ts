import { duration } from '@/text/time';
import type { Step } from './api';
import { tookOf, type Items } from './progress';
import { useText } from './text';

/** How long a step took, in words. */
export function took(step: Step, now: number): string {
  const ms = tookOf(step, now);
  if (ms === undefined) return '';
  return ms < 1000 ? '< 1 s' : duration(ms);
}

export function useItemsWords() {
  const text = useText();
  return ({ all, done, failed }: Items) => text.items(all, done, failed);
}
