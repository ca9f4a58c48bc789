import type { Entry } from './api';

/** What stands as one thing in a thread. */
export type Post =
  | { kind: 'entry'; key: string; entry: Entry }
  /** Reports that follow each other: the last one says where it stands. */
  | { kind: 'progress'; key: string; last: Entry; before: Entry[] };

/** Events that say nothing of their own, or only to one person. */
const quiet = new Set(['question.reminded', 'message.handed']);

/** The pages of a timeline, each of which is older than the one before it, as one list, oldest first. */
export function inOrder(pages: readonly { items: readonly Entry[] }[]): Entry[] {
  const seen = new Set<number>();
  return [...pages].reverse().flatMap((page) => page.items).filter((entry) => {
    // Between two reads of pages an entry may move from one to the next.
    if (seen.has(entry.seq)) return false;
    seen.add(entry.seq);
    return true;
  });
}

/** Puts together what belongs together. */
export function posts(entries: readonly Entry[]): Post[] {
  const out: Post[] = [];
  for (const entry of entries) {
    if (quiet.has(entry.type)) continue;
    const before = out.at(-1);
    if (entry.kind !== 'progress') out.push({ kind: 'entry', key: String(entry.seq), entry });
    else if (before?.kind === 'progress') {
      before.before.push(before.last);
      before.last = entry;
    } else out.push({ kind: 'progress', key: String(entry.seq), last: entry, before: [] });
  }
  return out;
}

/** Whether two entries were on different days, as the reader counts them. */
export const otherDay = (a: Entry | undefined, b: Entry) => a === undefined || new Date(a.at).toDateString() !== new Date(b.at).toDateString();

/** The questions that were asked, by id: what closes one names it. */
export function questionsIn(entries: readonly Entry[]): Map<string, NonNullable<Entry['question']>> {
  return new Map(entries.flatMap((entry) => (entry.question ? [[entry.question.id, entry.question] as const] : [])));
}

export const postEntry = (post: Post): Entry => (post.kind === 'entry' ? post.entry : post.last);
