import { useState } from 'react';

interface Identified {
  id: string;
}

export interface SteadyList<T> {
  shown: T[];
  /** The ids of entries that are shown although they have left the list. */
  gone: ReadonlySet<string>;
  /** The number of entries in the list that are not shown yet. */
  fresh: number;
}

/**
 * Updates the shown list without moving an entry. An entry that left the list
 * stays until the reader looks away, and a new one waits. Entries after the
 * last shown one move nothing, so they are added at once: further pages arrive
 * in this way.
 */
export function holdSteady<T extends Identified>(shown: readonly T[], list: readonly T[]): SteadyList<T> {
  const now = new Map(list.map((thing) => [thing.id, thing]));
  const before = new Set(shown.map((thing) => thing.id));
  const last = list.findLastIndex((thing) => before.has(thing.id));
  const added = list.slice(last + 1);
  const kept = shown.map((thing) => now.get(thing.id) ?? thing);
  return {
    shown: [...kept, ...added],
    gone: new Set(shown.filter((thing) => !now.has(thing.id)).map((thing) => thing.id)),
    fresh: list.slice(0, last + 1).filter((thing) => !before.has(thing.id)).length,
  };
}

const isSame = <T>(a: readonly T[], b: readonly T[]) => a.length === b.length && a.every((thing, at) => thing === b[at]);

/** Returns the list to show: the list as it is, or held still while the reader reads it. */
export function useSteadyList<T extends Identified>(list: T[], hold: boolean, subject: string): SteadyList<T> {
  const [kept, setKept] = useState({ subject, shown: list });
  const held = hold && kept.subject === subject && kept.shown.length > 0;
  const next: SteadyList<T> = held ? holdSteady(kept.shown, list) : { shown: list, gone: new Set(), fresh: 0 };
  const unchanged = kept.subject === subject && isSame(kept.shown, next.shown);
  if (!unchanged) setKept({ subject, shown: next.shown });
  // An unchanged list stays the same array, so that nothing is rendered for it.
  return unchanged ? { ...next, shown: kept.shown } : next;
}
