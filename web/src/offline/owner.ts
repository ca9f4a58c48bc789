// The browser stores drafts, the last inbox and unsent answers. They belong to
// one person: the last one who signed in here. No other person's page reads
// them.

const ownerStorageKey = 'fermata.owner';
const prefixOf = (name: string) => `fermata.for.${name}:`;

function readOwner(): string {
  try {
    return localStorage.getItem(ownerStorageKey) ?? '';
  } catch {
    return '';
  }
}

// A page keeps one owner. After the first sign-in, only a reload changes the owner.
let owner = readOwner();

/** Returns the owner of the data that this page stores, or '' before the first sign-in. */
export const dataOwner = () => owner;

/** Returns the key under which the browser stores the data `name` of this page's owner. */
export const ownedKey = (name: string) => prefixOf(owner) + name;

/**
 * Records the signed-in person as the owner of this page. Returns false if the
 * page belongs to another person and must be reloaded.
 */
export function recordOwner(name: string): boolean {
  if (owner === name) return true;
  const first = owner === '';
  if (first) owner = name;
  try {
    localStorage.setItem(ownerStorageKey, name);
    // The next person must not see which row was selected.
    sessionStorage.removeItem(selectedQuestionKey);
  } catch {
    // The browser refuses to store data. So it has no data that another person could read.
  }
  return first;
}

/** The storage key of the question that is selected in the inbox. */
export const selectedQuestionKey = 'fermata.selected';

/** Returns the storage keys of unsent drafts: answers, messages, a task. */
export function draftKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefixOf(owner)));
  } catch {
    return [];
  }
}

/** Deletes the drafts and the name of their owner. */
export function deleteDrafts(): void {
  draftKeys().forEach((key) => localStorage.removeItem(key));
  try {
    localStorage.removeItem(ownerStorageKey);
    sessionStorage.removeItem(selectedQuestionKey);
  } catch {
    // The browser refuses to store data, so there is nothing to delete.
  }
}
