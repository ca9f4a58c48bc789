import { expect, it } from 'vitest';
import { hashOf } from '@/api/exact';
import type { Answer, Question } from '@/api/types';
import { isSameDecision } from './sign';

const question = {
  id: 'q_1', action_hash: 'h1',
  items: [{ key: 'go', prompt: 'Go?', response_type: 'approval' }, { key: 'why', prompt: 'Why?', response_type: 'text' }, { key: 'db', prompt: 'Where?', response_type: 'choice', options: [{ value: 'main' }] }],
} as unknown as Question;
const body: Answer = { answers: { go: 'approve', why: ' because ', db: 'main' }, comment: 'after the backup' };
const decision = { question_id: 'q_1', action_hash: 'h1', answers: { go: 'approve', why: 'because', db: 'main' }, comment: 'after the backup' };

it('signs what the reader chose, and nothing else', async () => {
  expect(await isSameDecision(question, body, undefined, decision)).toBe(true);
  for (const other of [{ question_id: 'q_2' }, { action_hash: 'h2' }, { action_hash: undefined }, { comment: 'now' }, { comment: undefined }, { answers: { ...decision.answers, go: 'reject' } }, { answers: { ...decision.answers, db: 'users' } }]) {
    expect(await isSameDecision(question, body, undefined, { ...decision, ...other })).toBe(false);
  }
});

it('signs an edited action by its own hash', async () => {
  const edited = '{"command":"ls"}';
  expect(await isSameDecision(question, body, edited, decision)).toBe(false);
  expect(await isSameDecision(question, body, edited, { ...decision, action_hash: await hashOf(edited) })).toBe(true);
});
