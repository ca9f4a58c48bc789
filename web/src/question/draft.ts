import { ownedKey } from '@/offline/owner';
import type { Values } from './item';

// A draft of an answer stays in the browser until it is sent. It survives
// reloads, lost connections and sessions that end.

export interface Draft {
  values: Values;
  /** The items that the reader answered in their own words. */
  other: Record<string, string>;
  comment: string;
  /** The edited action. */
  action?: string;
  at: number;
}

const draftKey = (id: string) => ownedKey(`draft.${id}`);
const isDraft = /^fermata\.for\.[^:]*:draft\./;
const maxDraftAge = 30 * 86_400_000;

export const readDraft = (id: string) => readStored(draftKey(id));

function readStored(key: string): Draft | undefined {
  try {
    const text = localStorage.getItem(key);
    return text ? (JSON.parse(text) as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function writeDraft(id: string, draft: Omit<Draft, 'at'>): void {
  const empty = Object.keys(draft.values).length === 0 && Object.keys(draft.other).length === 0 && draft.comment === '' && draft.action === undefined;
  try {
    if (empty) localStorage.removeItem(draftKey(id));
    else localStorage.setItem(draftKey(id), JSON.stringify({ ...draft, at: Date.now() }));
  } catch {
    // The storage is full or blocked. The draft then lives as long as the page.
  }
}

export function dropDraft(id: string): void {
  localStorage.removeItem(draftKey(id));
}

/** Deletes the drafts that nobody changed for 30 days, those of all persons who used this browser. */
export function dropOldDrafts(now = Date.now()): void {
  for (const key of Object.keys(localStorage)) {
    if (!isDraft.test(key)) continue;
    const draft = readStored(key);
    if (!draft || now - draft.at > maxDraftAge) localStorage.removeItem(key);
  }
}
