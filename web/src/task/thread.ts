import type { Entry } from './api';

/** One post of a thread. */
export type Post =
  | { kind: 'entry'; key: string; entry: Entry }
  /** Progress reports in a row. The last one says how far the work is. */
  | { kind: 'progress'; key: string; last: Entry; before: Entry[] };

/** The events that the thread leaves out, because they add nothing or concern only one person. */
const hiddenTypes = new Set(['question.reminded', 'message.handed']);

/** Returns the pages of a timeline as one list, oldest first. Each page is older than the page before it. */
export function timelineEntries(pages: readonly { items: readonly Entry[] }[]): Entry[] {
  const seen = new Set<number>();
  return [...pages].reverse().flatMap((page) => page.items).filter((entry) => {
    // An entry may move from one page to the next between two reads.
    if (seen.has(entry.seq)) return false;
    seen.add(entry.seq);
    return true;
  });
}

/** Groups the entries into posts. */
export function postsOf(entries: readonly Entry[]): Post[] {
  const out: Post[] = [];
  for (const entry of entries) {
    if (hiddenTypes.has(entry.type)) continue;
    const before = out.at(-1);
    if (entry.kind !== 'progress') out.push({ kind: 'entry', key: String(entry.seq), entry });
    else if (before?.kind === 'progress') {
      before.before.push(before.last);
      before.last = entry;
    } else out.push({ kind: 'progress', key: String(entry.seq), last: entry, before: [] });
  }
  return out;
}

/** Reports whether two entries were on different days of the reader. */
export const isOtherDay = (a: Entry | undefined, b: Entry) => a === undefined || new Date(a.at).toDateString() !== new Date(b.at).toDateString();

/** Returns the questions that were asked, by id. The entry that closes a question names it by its id. */
export function questionsIn(entries: readonly Entry[]): Map<string, NonNullable<Entry['question']>> {
  return new Map(entries.flatMap((entry) => (entry.question ? [[entry.question.id, entry.question] as const] : [])));
}

export const postEntry = (post: Post): Entry => (post.kind === 'entry' ? post.entry : post.last);
