import type { Question } from '@/api/types';
import { approvalsOf } from './queries';
import type { QuestionText } from './text';

/** Returns the votes and the number of items of a question. The title and the risk are shown beside them. */
export function countsOf(question: Question, text: QuestionText): string[] {
  const needed = question.approvals?.required ?? 1;
  const votes = question.votes ?? [];
  const approved = approvalsOf(question);
  const facts = [];
  if (needed > 1) facts.push(text.votesOf(approved, needed, votes.length - approved));
  if (question.items.length > 1) facts.push(text.itemCount(question.items.length));
  return facts;
}

/** Returns the task and the project of a question, if they say more than its title. */
export function taskAndProjectOf(question: Question): string[] {
  const task = question.task_title === question.title ? undefined : question.task_title;
  return [task, question.project].filter((fact): fact is string => fact !== undefined && fact !== '');
}

/**
 * Returns one line that helps to choose a question from a list. A narrow list cuts the end off, so the votes come
 * first.
 */
export const factsOf = (question: Question, text: QuestionText) => [...countsOf(question, text), ...taskAndProjectOf(question)].join(' · ');
