import type { Item, Question } from '@/api/types';
import { keyOf, labelOf, optionsOf, picksDanger, type Value } from '@/question/item';
import { awaitsReader } from '@/question/queries';

export interface QuickAnswer {
  value: Value;
  label: string;
  recommended: boolean;
}

/** A question with more answers than this needs its own page. */
const maxAnswers = 4;

/**
 * Returns the answers that the reader may give with one press beside a summary
 * of the question. The list is empty if the question must be read in full on
 * its own page. That is so for a question with an action, a preview, a text, a
 * dangerous option, a high risk, a signature or several items.
 */
export function quickAnswers(question: Question, words: { yes: string; no: string; approve: string; reject: string }): QuickAnswer[] {
  const [item] = question.items;
  const whole = question.action_hash !== undefined || question.context?.preview !== undefined || question.context?.text !== undefined || question.risk === 'high' || question.risk === 'critical' || question.needs_signature;
  if (!item || question.items.length > 1 || whole || question.status !== 'pending' || question.held || !awaitsReader(question)) return [];
  const answers = answersOf(item, words);
  return answers.length > maxAnswers || answers.some((answer) => picksDanger(item, answer.value)) ? [] : answers;
}

function answersOf(item: Item, words: { yes: string; no: string; approve: string; reject: string }): QuickAnswer[] {
  const plain = (value: Value, label: string): QuickAnswer => ({ value, label, recommended: item.default === value });
  switch (item.response_type) {
    case 'boolean':
      return [plain(true, words.yes), plain(false, words.no)];
    case 'approval':
      return [plain('approve', words.approve), plain('reject', words.reject)];
    case 'choice':
      return optionsOf(item).map((option) => ({ value: option.value, label: labelOf(option), recommended: option.recommended === true || item.default === option.value }));
    default:
      return [];
  }
}

export const quickKey = (question: Question) => (question.items[0] ? keyOf(question.items[0]) : '');
