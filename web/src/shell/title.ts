import { useSyncExternalStore } from 'react';

// The number of waiting questions is in the title of every page.
let waiting = 0;
const listeners = new Set<() => void>();

export function setWaiting(n: number): void {
  if (n === waiting) return;
  waiting = n;
  listeners.forEach((listener) => listener());
}

export function useWaiting(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting,
  );
}

/** Returns the title for the browser's tab. */
export const titled = (title: string) => `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Fermata`;
