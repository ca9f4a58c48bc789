import { useSyncExternalStore } from 'react';
import { useLanguage } from './language';

/** The words for an error code in one language: what happened and, if the code alone tells it, what helps. */
export interface Refusal {
  what: string;
  hint?: string;
}

type Refusals = Readonly<Record<string, Refusal>>;

// The server writes English. The words of another language are loaded only for its readers.
let german: Refusals | undefined;
const listeners = new Set<() => void>();

function onGerman(listener: () => void) {
  listeners.add(listener);
  if (!german) void fetchGerman();
  return () => listeners.delete(listener);
}

async function fetchGerman() {
  const { refusals } = await import('./refusals.de').catch(() => ({ refusals: undefined }));
  german = refusals;
  if (german) listeners.forEach((listener) => listener());
}

const silent = () => () => undefined;

/** Returns the words for error codes in the reader's language, or undefined if the server's own words will do. */
export function useRefusals(): Refusals | undefined {
  const language = useLanguage();
  return useSyncExternalStore(language === 'de' ? onGerman : silent, () => (language === 'de' ? german : undefined));
}
