import { useCallback, useSyncExternalStore } from 'react';
import { signal } from '@/api/signal';
import type { Language } from '@/text/languages';

/** The settings of a reader for this browser. */
export interface Preferences {
  language: 'system' | Language;
  /** Whether single keys run commands. WCAG 2.1.4 requires a way to turn them off. */
  keys: boolean;
  contrast: 'system' | 'more';
  motion: 'system' | 'less';
  density: 'comfortable' | 'compact';
  /** The order of the inbox: by its sections, by priority or by project. */
  inboxOrder: 'inbox' | 'urgency' | 'project';
  /** Whether an urgent question opens by itself. */
  dialog: boolean;
  /** Whether the browser shows notifications while the page is open. */
  browserNotifications: boolean;
  /** Whether these notifications cover everything that concerns the reader, or only what stops work. */
  browserKinds: 'urgent' | 'all';
}

const defaults: Preferences = {
  language: 'system', keys: true, contrast: 'system', motion: 'system', density: 'comfortable', inboxOrder: 'inbox', dialog: true, browserNotifications: false, browserKinds: 'urgent',
};

const storageKey = 'fermata.preferences';
let current = readPreferences();
const changes = signal();

function readPreferences(): Preferences {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Preferences>) };
  } catch {
    return defaults;
  }
}

addEventListener('storage', (event) => {
  if (event.key !== storageKey) return;
  current = readPreferences();
  changes.notify();
});

export const preferences = () => current;

/** Changes one preference, here and in the other tabs. */
export function setPreference<K extends keyof Preferences>(key: K, value: Preferences[K]): void {
  current = { ...current, [key]: value };
  try {
    localStorage.setItem(storageKey, JSON.stringify(current));
  } catch {
    // Without storage, the change lasts until the page closes.
  }
  changes.notify();
}

export function usePreference<K extends keyof Preferences>(key: K): [Preferences[K], (value: Preferences[K]) => void] {
  const value = useSyncExternalStore(changes.subscribe, () => current[key]);
  return [value, useCallback((next: Preferences[K]) => setPreference(key, next), [key])];
}
