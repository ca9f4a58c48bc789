import { expect, it } from 'vitest';
import type { Question } from '@/api/types';
import { batchOf, isHarmless } from './batch';

const approval = (id: string, more: Partial<Question> = {}) =>
  ({ id, type: 'approval', status: 'pending', risk: 'low', project: 'shop', items: [{ prompt: 'p', response_type: 'approval' }], action: { tool: 'bash', command: id }, ...more }) as Question;

it('puts together what is of one kind and harmless', () => {
  const first = approval('a');
  const list = [
    first, approval('b'), approval('c', { action: { tool: 'write' } }), approval('d', { risk: 'high' }), approval('e', { project: 'other' }),
    approval('f', { approvals: { required: 2 } }), approval('g', { status: 'answered' }), approval('h', { may_answer: false }), approval('i', { needs_signature: true }),
  ];
  expect(batchOf(list, first).map((question) => question.id)).toEqual(['a', 'b']);
  expect(batchOf(list, approval('x', { risk: 'critical' }))).toEqual([]);
  expect(isHarmless(approval('y', { type: 'blocking' }))).toBe(false);
});
