// What the browser keeps – drafts, the last inbox, answers on their way – is
// one person's: whoever was signed in here last. Nobody else's page reads it.

const place = 'fermata.owner';
const prefixOf = (name: string) => `fermata.for.${name}:`;

function stored(): string {
  try {
    return localStorage.getItem(place) ?? '';
  } catch {
    return '';
  }
}

// A page is one person's from its first whoami to its end.
let owner = stored();

/** Whose things this page keeps; '' while nobody was ever signed in here. */
export const keptFor = () => owner;

/** Where something of this page's person is kept. */
export const keptAt = (what: string) => prefixOf(owner) + what;

/**
 * Says who looks at the page. False: it is somebody else than whose things this
 * page keeps, and must begin anew.
 */
export function own(name: string): boolean {
  if (owner === name) return true;
  const first = owner === '';
  if (first) owner = name;
  try {
    localStorage.setItem(place, name);
    // Which row was selected is no news for the next one.
    sessionStorage.removeItem(selectedAt);
  } catch {
    // Nothing is kept, so there is nothing to tell apart.
  }
  return first;
}

/** Where the inbox notes which question is on. */
export const selectedAt = 'fermata.selected';

/** The names of what was begun and not sent: answers, messages, a task. */
export function begun(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefixOf(owner)));
  } catch {
    return [];
  }
}

/** Forgets what was begun, and whose it was. */
export function forgetBegun(): void {
  begun().forEach((key) => localStorage.removeItem(key));
  try {
    localStorage.removeItem(place);
    sessionStorage.removeItem(selectedAt);
  } catch {
    // See own.
  }
}
