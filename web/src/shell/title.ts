import { useSyncExternalStore } from 'react';
import { signal } from '@/api/signal';

// The number of waiting questions is in the title of every page.
let waiting = 0;
const changes = signal();

export function setWaiting(n: number): void {
  if (n === waiting) return;
  waiting = n;
  changes.notify();
}

export const useWaiting = (): number => useSyncExternalStore(changes.subscribe, () => waiting);

/** Returns the title for the browser's tab. */
export const tabTitle = (title: string) => `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Fermata`;
