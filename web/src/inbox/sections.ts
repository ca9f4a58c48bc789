import type { Question } from '@/api/types';
import type { Preferences } from '@/shell/preferences';
import { gatherAlike, type Row } from './alike';
import type { useText } from './text';

export type InboxOrder = Preferences['inboxOrder'];

/** A part of the list under one heading. */
export interface Section {
  key: string;
  questions: Question[];
  rows: Row[];
}

const keys: Record<InboxOrder, (question: Question) => string> = {
  inbox: (question) => question.section ?? 'rest',
  urgency: (question) => String(question.priority),
  project: (question) => question.project,
};

/** Splits a list that the server has put in this order into its sections, and gathers alike questions within each. */
export function sectionsOf(questions: Question[], order: InboxOrder, singly: ReadonlySet<string>): Section[] {
  const sections: { key: string; questions: Question[] }[] = [];
  for (const question of questions) {
    const key = keys[order](question);
    const last = sections.at(-1);
    if (last?.key === key) last.questions.push(question);
    else sections.push({ key, questions: [question] });
  }
  return sections.map((section) => ({ ...section, rows: gatherAlike(section.questions, singly) }));
}

/** Returns where the rows of each section begin, and where the last row ends, in pixels. Each section has a heading above its rows. */
export function layOut(sections: Section[], heading: number, row: number): { parts: { section: Section; top: number }[]; end: number } {
  const parts = [];
  let end = 0;
  for (const section of sections) {
    parts.push({ section, top: end + heading });
    end += heading + section.rows.length * row;
  }
  return { parts, end };
}

/** Returns the heading of a section. */
export function headingOf({ key }: Section, order: InboxOrder, text: ReturnType<typeof useText>): string {
  if (order === 'project') return key;
  if (order === 'urgency') return text.priority(Number(key));
  return text[`section_${key as NonNullable<Question['section']>}`];
}
