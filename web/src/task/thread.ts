import type { EventNoun, EventType } from '@/api/types';
import type { Entry } from './api';

/** One post of a thread. */
export type Post =
  | { kind: 'entry'; key: string; entry: Entry }
  /** Progress reports in a row. The last one says how far the work is. */
  | { kind: 'progress'; key: string; last: Entry; before: Entry[] };

/** The events that the thread leaves out, because they add nothing or concern only one person. */
const hiddenTypes = ['question.reminded', 'message.handed'] as const satisfies EventType[];
const isHidden = (type: EventType) => (hiddenTypes as readonly EventType[]).includes(type);

/** The nouns of events that are about no task. */
type NounWithoutTask = Extract<EventNoun, 'member' | 'token' | 'policy' | 'channel' | 'github' | 'database' | 'audit' | 'retention'>;
type TypeWithoutTask = `${NounWithoutTask}.${string}` | 'workflow.changed' | 'workflow.removed' | 'workflow.tool_changed' | 'workflow.tool_removed';
/** The types of events that a thread shows. */
export type ThreadEventType = Exclude<EventType, TypeWithoutTask | (typeof hiddenTypes)[number]>;

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
    if (isHidden(entry.type)) continue;
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
