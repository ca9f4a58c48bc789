import { hasExactNumbers } from '@/api/number';
import type { Item, Option, Question } from '@/api/types';
import type { QuestionText } from './text';

export type Value = string | string[] | boolean | number;
export type Values = Record<string, Value | undefined>;

export const keyOf = (item: Item) => item.key ?? '';
export const optionsOf = (item: Item | undefined) => (item?.options ?? []) as Option[];
export const isRequired = (item: Item) => item.required !== false;
export const labelOf = (option: Option) => option.label || option.value;

/** Returns the asker's suggestion: the default, or else the only option that the asker recommends. */
export function suggestion(item: Item): Value | undefined {
  if (item.default !== undefined && item.default !== null) return item.default as Value;
  const recommended = optionsOf(item).filter((option) => option.recommended);
  if (item.response_type === 'choice' && recommended.length === 1) return recommended[0]?.value;
  return undefined;
}

/** Reports whether an answer picks an option that is marked as dangerous. */
export function picksDanger(item: Item, value: Value | undefined): boolean {
  const picked = Array.isArray(value) ? value : [value];
  return optionsOf(item).some((option) => option.danger && picked.includes(option.value));
}

/** Returns a value as text for people. */
export function textOf(item: Item | undefined, value: unknown, text: QuestionText): string {
  if (value === undefined || value === null || value === '') return text.none;
  if (Array.isArray(value)) return value.length > 0 ? value.map((each) => textOf(item, each, text)).join(', ') : text.none;
  if (typeof value === 'boolean') return value ? text.yes : text.no;
  if (item?.response_type === 'approval' || !item) {
    if (value === 'approve') return text.approved;
    if (value === 'reject') return text.rejected;
  }
  const option = item && optionsOf(item).find((each) => each.value === value);
  return option ? labelOf(option) : typeof value === 'object' ? JSON.stringify(value) : `${value as string | number}`;
}

/** Returns the answers of a resolution or a draft in one line. */
export function answersText(question: Question, answers: Record<string, unknown> | undefined, text: QuestionText): string {
  if (!answers) return text.none;
  const [only] = question.items;
  if (question.items.length === 1 && only) return textOf(only, answers[keyOf(only)], text);
  return question.items.map((item) => `${item.header || item.prompt}: ${textOf(item, answers[keyOf(item)], text)}`).join(' · ');
}

/** Returns in words what is wrong with a value, or undefined if it may be sent. */
export function fault(item: Item, value: Value | undefined, text: QuestionText): string | undefined {
  const empty = value === undefined || (typeof value === 'string' && value.trim() === '') || (Array.isArray(value) && value.length === 0);
  if (empty) return isRequired(item) && !(item.response_type === 'multi_choice' && item.min === 0) ? text.required : undefined;
  if (Array.isArray(value)) {
    if (item.min !== undefined && value.length < item.min) return text.tooFew(item.min);
    if (item.max !== undefined && value.length > item.max) return text.tooMany(item.max);
    return undefined;
  }
  switch (item.response_type) {
    case 'number':
      return numberFault(item, value, text);
    case 'date':
      return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : text.notDate;
    case 'text':
    case undefined:
      return typeof value === 'string' ? textFault(item, value, text) : undefined;
    default:
      return undefined;
  }
}

function numberFault(item: Item, value: Value, text: QuestionText): string | undefined {
  const n = numberOf(value);
  if (n === undefined) return text.notNumber;
  if (!hasExactNumbers(n)) return text.tooManyDigits;
  if (item.min !== undefined && n < item.min) return text.below(item.min);
  if (item.max !== undefined && n > item.max) return text.above(item.max);
  return undefined;
}

function textFault(item: Item, value: string, text: QuestionText): string | undefined {
  const length = [...value].length;
  if (item.min_length !== undefined && length < item.min_length) return text.tooShort(item.min_length);
  const longest = item.max_length ?? 20_000;
  return length > longest ? text.tooLong(longest) : undefined;
}

/** Reads a number as people write it, with a point or a comma. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?\s*$/i.test(value)) return undefined;
  const n = Number(value.trim().replace(',', '.'));
  return Number.isFinite(n) ? n : undefined;
}

/** Returns the values as they are sent, without the empty ones. */
export function wireValues(question: Question, values: Values): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const item of question.items) {
    const value = values[keyOf(item)];
    if (value === undefined || value === '') continue;
    sent[keyOf(item)] = item.response_type === 'number' ? numberOf(value) : value;
  }
  return sent;
}

/** Returns the decision on an approval that asks for nothing else. */
export function decisionOf(question: Question): 'approved' | 'rejected' | undefined {
  const { items, resolution } = question;
  if (items.length !== 1 || items[0]?.response_type !== 'approval' || resolution?.status !== 'answered') return undefined;
  return isApproved(question) ? 'approved' : 'rejected';
}

const isApproved = ({ items, resolution }: Question) =>
  resolution?.status === 'answered' && items.some((item) => item.response_type === 'approval' && resolution.answers?.[keyOf(item)] === 'approve');

/** Returns what happens to the original action. It does not run if the approval edited it. */
export function fateOf(question: Question): 'runs' | 'ran' | 'notRun' {
  if (question.status === 'pending') return 'runs';
  const changed = question.resolution?.action_text !== undefined && question.resolution.action_hash !== question.action_hash;
  return isApproved(question) && !changed ? 'ran' : 'notRun';
}
