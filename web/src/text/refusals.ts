import { useSyncExternalStore } from 'react';
import { useLanguage } from './language';

/** What a code says in a language: what happened, and what helps where the code alone tells it. */
export interface Refusal {
  what: string;
  hint?: string;
}

type Refusals = Readonly<Record<string, Refusal>>;

// The server writes English. Only who reads another language fetches its words.
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

/** The words of the reader's language for codes; none where the server's own will do. */
export function useRefusals(): Refusals | undefined {
  const language = useLanguage();
  return useSyncExternalStore(language === 'de' ? onGerman : silent, () => (language === 'de' ? german : undefined));
}
