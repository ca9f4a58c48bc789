import { api, unwrap } from '@/api/client';
import { hashOf } from '@/api/exact';
import { newIdempotencyKey } from '@/api/key';
import { queryClient } from '@/api/queries';
import type { Question } from '@/api/types';
import { holdAnswer } from '@/question/held';
import { keyOf, optionsOf, suggestion, type Value, labelOf } from '@/question/item';
import { showQuestion } from '@/question/queries';
import type { QuestionText } from '@/question/text';
import { kindOf } from './alike';

/** How many answers one call may hold. */
const mostAnswers = 100;

/** One answer for several questions. */
export interface LotChoice {
  id: string;
  label: string;
  keys: string[];
  /** Whether the choice lets actions run. */
  approves?: boolean;
  answers: { question: Question; value: Value }[];
}

/** Returns the choices that answer all questions, or those of one form, at once. Every question may be decided together with others. */
export function lotChoices(questions: Question[], text: QuestionText): LotChoice[] {
  const withForm = (type: string) => questions.filter(({ items: [item] }) => item?.response_type === type);
  const all = (of: Question[], id: string, label: string, keys: string[], value: Value): LotChoice => ({ id, label, keys, answers: of.map((question) => ({ question, value })) });
  const [approvals, booleans, choices] = [withForm('approval'), withForm('boolean'), withForm('choice')];
  const haveOneForm = new Set(choices.map(kindOf)).size === 1;
  const suggested = questions.flatMap((question): LotChoice['answers'] => {
    const [item] = question.items;
    const value = item && item.response_type !== 'approval' ? suggestion(item) : undefined;
    return value === undefined ? [] : [{ question, value }];
  });
  return [
    { ...all(approvals, 'approve', text.approve, ['a'], 'approve'), approves: true },
    all(approvals, 'reject', text.reject, ['r'], 'reject'),
    all(booleans, 'yes', text.yes, ['y'], true),
    all(booleans, 'no', text.no, ['n'], false),
    ...(haveOneForm ? optionsOf(choices[0]?.items[0]).slice(0, 9).map((option, n) => all(choices, `option-${n + 1}`, labelOf(option), [String(n + 1)], option.value)) : []),
    { id: 'suggestions', label: '', keys: ['Enter'], answers: suggested },
  ].filter(({ answers }) => answers.length > 0);
}

/** Why a question of a lot was not decided. */
export type LotFaults = ReadonlyMap<string, string>;

/** Answers all questions of a choice, and shows the answers as one that can be undone. It returns why some were not decided. */
export async function answerLot({ answers }: LotChoice, said: string, title: (n: number) => string, wrongHash: string): Promise<LotFaults> {
  const faults = new Map<string, string>();
  const held: Question[] = [];
  const sound = (await Promise.all(answers.map(async (answer) => ({ answer, isSound: await hasItsHash(answer.question) })))).flatMap(({ answer, isSound }) => {
    if (!isSound) faults.set(answer.question.id, wrongHash);
    return isSound ? [answer] : [];
  });
  try {
    for (let at = 0; at < sound.length; at += mostAnswers) {
      const body = { items: sound.slice(at, at + mostAnswers).map(({ question, value }) => partOf(question, value)) };
      const { items } = await unwrap(api.POST('/v1/answers', { params: { header: { 'Idempotency-Key': newIdempotencyKey() } }, body }));
      for (const { question, question_id: id, problem } of items) {
        if (problem) faults.set(id, problem.detail);
        if (!question) continue;
        showQuestion(queryClient, question);
        if (question.held) held.push(question);
      }
    }
  } finally {
    // What was accepted before an error can be undone as well.
    const [first] = held.map(({ held: hold }) => Date.parse(hold?.release_at ?? '')).sort((a, b) => a - b);
    if (first !== undefined) holdAnswer({ ids: held.map(({ id }) => id), title: held.length === 1 ? (held[0]?.title ?? '') : title(held.length), said, releaseAt: first });
  }
  return faults;
}

/** Reports whether the bytes of an action have the hash that came with them. A page without a secure connection cannot check it. */
async function hasItsHash({ action_text: action, action_hash: hash }: Question): Promise<boolean> {
  if (action === undefined) return true;
  const found = await hashOf(action);
  return found === undefined || found === hash;
}

function partOf(question: Question, value: Value) {
  const [item] = question.items;
  return {
    question_id: question.id, answers: { [item ? keyOf(item) : '']: value }, channel: 'web', undo: true,
    ...(question.action_hash ? { action_hash: question.action_hash } : {}),
  };
}
