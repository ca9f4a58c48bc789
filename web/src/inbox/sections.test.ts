import { expect, it } from 'vitest';
import type { Question } from '@/api/types';
import { layOut, sectionsOf, type InboxOrder } from './sections';

const question = (id: string, section: Question['section'], priority: number, project: string) => ({ id, section, priority, project, items: [] }) as unknown as Question;

it('splits a list into the sections of its order', () => {
  const all = [question('a', 'due_soon', 1, 'shop'), question('b', 'high_risk', 1, 'shop'), question('c', 'high_risk', 2, 'web'), question('d', undefined, 2, 'web')];
  const shown = (order: InboxOrder) => sectionsOf(all, order, new Set()).map(({ key, questions }) => `${key}: ${questions.map(({ id }) => id).join(' ')}`);
  expect(shown('inbox')).toEqual(['due_soon: a', 'high_risk: b c', 'rest: d']);
  expect(shown('urgency')).toEqual(['1: a b', '2: c d']);
  expect(shown('project')).toEqual(['shop: a b', 'web: c d']);
  expect(sectionsOf([], 'inbox', new Set())).toEqual([]);
  const { parts, end } = layOut(sectionsOf(all, 'inbox', new Set()), 30, 48);
  expect(parts.map(({ top }) => top)).toEqual([30, 108, 234]);
  expect(end).toBe(282);
});
