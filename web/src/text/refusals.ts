import { useSyncExternalStore } from 'react';
import { signal } from '@/api/signal';
import { useLanguage } from './language';

/** The words for an error code in one language: what happened, and a hint if the code alone is enough for one. */
export interface Refusal {
  what: string;
  hint?: string;
}

type Refusals = Readonly<Record<string, Refusal>>;

// The server writes English. The words of another language are loaded only for its readers.
let german: Refusals | undefined;
const loads = signal();

function onGerman(listener: () => void) {
  const stop = loads.subscribe(listener);
  if (!german) void fetchGerman();
  return stop;
}

async function fetchGerman() {
  const { refusals } = await import('./refusals.de').catch(() => ({ refusals: undefined }));
  german = refusals;
  if (german) loads.notify();
}

const noSubscription = () => () => undefined;

/** Returns the words for error codes in the reader's language, or undefined if the server's own words will do. */
export function useRefusals(): Refusals | undefined {
  const language = useLanguage();
  return useSyncExternalStore(language === 'de' ? onGerman : noSubscription, () => (language === 'de' ? german : undefined));
}
