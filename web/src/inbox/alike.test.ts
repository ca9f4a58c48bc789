import { expect, it } from 'vitest';
import type { Question } from '@/api/types';
import { canJoin, gatherAlike, sameKind } from './alike';

const approval = (id: string, more: Partial<Question> = {}) =>
  ({ id, title: 'Run it?', type: 'approval', status: 'pending', risk: 'low', project: 'shop', items: [{ prompt: 'p', response_type: 'approval' }], action: { tool: 'bash', command: id }, ...more }) as Question;
const choice = (id: string, values: string[], danger = false) =>
  approval(id, { type: 'blocking', title: 'Which?', action: undefined, items: [{ prompt: 'p', response_type: 'choice', options: values.map((value) => ({ value, danger })) }] });
const ids = (questions: Question[]) => questions.map(({ id }) => id);

it('puts together what is of one kind and needs no decision of its own', () => {
  const first = approval('a');
  const list = [
    first, approval('b', { title: 'Another?' }), approval('c', { action: { tool: 'write' } }), approval('d', { risk: 'high' }), approval('e', { project: 'other' }),
    approval('f', { approvals: { required: 2 } }), approval('g', { status: 'answered' }), approval('h', { may_answer: false }), approval('i', { needs_signature: true }),
  ];
  expect(ids(sameKind(list, first))).toEqual(['a', 'b']);
  expect(sameKind(list, approval('x', { risk: 'critical' }))).toEqual([]);
  expect(ids(sameKind([choice('k', ['x', 'y']), choice('l', ['x', 'y']), choice('m', ['x', 'z'])], choice('k', ['x', 'y'])))).toEqual(['k', 'l']);
  expect(canJoin(choice('n', ['x'], true))).toBe(false);
});

it('gathers three or more alike questions at the place of the first', () => {
  const list = [approval('a'), choice('k', ['x']), approval('b'), approval('z', { title: 'Other?' }), approval('c'), choice('l', ['x']), approval('d', { risk: 'high' })];
  const shown = (singly: string[]) => gatherAlike(list, new Set(singly)).map(({ question, alike }) => (alike ? ids(alike) : question.id));
  expect(shown([])).toEqual([['a', 'b', 'c'], 'k', 'z', 'l', 'd']);
  expect(shown(['Run it?'])).toEqual(['a', 'k', 'b', 'z', 'c', 'l', 'd']);
  const text = approval('t', { type: 'blocking', items: [{ prompt: 'p', response_type: 'text' }] });
  expect(gatherAlike([text, { ...text, id: 'u' }, { ...text, id: 'v' }], new Set())).toHaveLength(3);
});
