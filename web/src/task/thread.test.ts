import { expect, it } from 'vitest';
import type { Entry } from './api';
import { timelineEntries, postsOf } from './thread';

const entry = (seq: number, kind: Entry['kind'] = 'task', type: Entry['type'] = 'task.created'): Entry => ({ seq, kind, type, at: '2026-11-21T12:00:00Z', actor: { kind: 'system' } });

it('a timeline is read from its oldest page to its newest, each entry once', () => {
  expect(timelineEntries([{ items: [entry(4), entry(5)] }, { items: [entry(2), entry(3), entry(4)] }, { items: [entry(1)] }]).map((each) => each.seq)).toEqual([1, 2, 3, 4, 5]);
});

it('reports that follow each other stand as one, under a key that stays', () => {
  const list = [entry(1), entry(2, 'progress'), entry(3, 'progress'), entry(4, 'message', 'message.posted'), entry(5, 'progress')];
  const [, first, , second] = postsOf(list);
  expect(first).toMatchObject({ kind: 'progress', key: '2', last: { seq: 3 }, before: [{ seq: 2 }] });
  expect(second).toMatchObject({ kind: 'progress', key: '5', before: [] });
  expect(postsOf(list.slice(0, 2))[1]?.key).toBe('2');
});
