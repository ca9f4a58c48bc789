import type { Item, Question } from '@/api/types';
import { keyOf, optionsOf } from '@/question/item';
import { awaitsReader } from '@/question/queries';

/** How many alike questions of a section one row stands for at least. */
const leastAlike = 3;

/** What one press can answer. */
const pressed: (Item['response_type'])[] = ['approval', 'boolean', 'choice'];

/** Reports whether a question may be decided together with others: nothing in it asks for a decision of its own. */
export function mayJoin(question: Question): boolean {
  return (
    (question.risk === 'low' || question.risk === 'medium') && (question.approvals?.required ?? 1) < 2 && !question.needs_signature && question.items.length === 1 &&
    !question.items.some((item) => optionsOf(item).some((option) => option.danger))
  );
}

/** Reports whether the reader can decide a question now, together with others. */
export const canJoin = (question: Question): boolean => question.status === 'pending' && !question.held && awaitsReader(question) && mayJoin(question);

/** Returns the kind of an action: the name of its tool, or else the names of its fields. */
function actionKindOf({ action }: Question): string {
  if (typeof action !== 'object' || action === null) return typeof action;
  const tool = (action as Record<string, unknown>).tool ?? (action as Record<string, unknown>).tool_name;
  return typeof tool === 'string' ? `tool ${tool}` : Object.keys(action).sort().join(' ');
}

const kinds = new WeakMap<Question, string>();

/** Returns the kind of a question. Questions of one kind have the same form, project and risk, and what they approve is of one kind. */
export function kindOf(question: Question): string {
  const known = kinds.get(question);
  if (known !== undefined) return known;
  const { type, project, risk, items } = question;
  const kind = JSON.stringify([type, project, risk, actionKindOf(question), ...items.map((item) => [keyOf(item), item.response_type, item.other, ...optionsOf(item).map(({ value }) => value)])]);
  kinds.set(question, kind);
  return kind;
}

const isPressed = ({ items }: Question) => items.every((item) => pressed.includes(item.response_type));

/** Returns the questions of the same kind that one press can answer together with this one, including itself. */
export function sameKind(questions: readonly Question[], question: Question): Question[] {
  if (!canJoin(question) || !isPressed(question)) return [];
  return questions.filter((each) => canJoin(each) && kindOf(each) === kindOf(question));
}

/** A row of the list. */
export interface Row {
  question: Question;
  /** The questions that the row stands for, if there are several. They differ only in what they are about. */
  alike?: Question[];
}

const alikeKeyOf = (question: Question) => `${kindOf(question)} ${question.agent ?? ''} ${question.title}`;

/** Gathers alike questions in one row each, at the place of the first. It leaves out the titles that the reader wants to see singly. */
export function gatherAlike(questions: Question[], singly: ReadonlySet<string>): Row[] {
  const counts = new Map<string, number>();
  const joins = (question: Question) => mayJoin(question) && isPressed(question) && !singly.has(question.title);
  for (const question of questions) if (joins(question)) counts.set(alikeKeyOf(question), (counts.get(alikeKeyOf(question)) ?? 0) + 1);
  const rows: Row[] = [];
  const gathered = new Map<string, Question[]>();
  for (const question of questions) {
    const key = joins(question) ? alikeKeyOf(question) : '';
    if ((counts.get(key) ?? 0) < leastAlike) {
      rows.push({ question });
      continue;
    }
    const others = gathered.get(key);
    if (others) others.push(question);
    else {
      const alike = [question];
      gathered.set(key, alike);
      rows.push({ question, alike });
    }
  }
  return rows;
}

/** Returns the questions that a row stands for. */
export const questionsOf = ({ question, alike }: Row): Question[] => alike ?? [question];
