import { describe, expect, it } from 'vitest';
import type { Question } from '@/api/types';
import type { News } from './api';
import { newsToShow } from './browser';
import { quickAnswers } from './quick';

const words = { yes: 'Yes', no: 'No', approve: 'Approve', reject: 'Reject' };
const question = (more: Partial<Question> = {}): Question => ({
  id: 'q', task_id: 't', project: 'default', type: 'blocking', status: 'pending', title: 'Which?', items: [{ key: 'a', prompt: 'Which?', response_type: 'boolean' }],
  timeout: '30m', priority: 2, risk: 'low', ask_count: 1, asked_by: { kind: 'agent' }, created_at: '2026-11-21T12:00:00Z', workspace_id: 'w', ...more,
});
const labels = (more: Partial<Question>) => quickAnswers(question(more), words).map((each) => each.label);
const choice = (n: number, danger = false) => [{ key: 'a', prompt: 'Which?', response_type: 'choice' as const, options: Array.from({ length: n }, (_, at) => ({ value: `v${at}`, danger: danger && at === 0 })) }];

describe('quick answers', () => {
  it('are there for simple questions', () => {
    expect(labels({})).toEqual(['Yes', 'No']);
    expect(labels({ items: choice(3) })).toEqual(['v0', 'v1', 'v2']);
    expect(labels({ type: 'approval', items: [{ key: 'a', prompt: 'OK?', response_type: 'approval' }] })).toEqual(['Approve', 'Reject']);
  });

  it.each<[string, Partial<Question>]>([
    ['an action', { action_hash: 'x' }],
    ['a preview', { context: { preview: { kind: 'diff', text: '+' } } }],
    ['a high risk', { risk: 'high' }],
    ['a dangerous option', { items: choice(2, true) }],
    ['many options', { items: choice(5) }],
    ['several items', { items: [...choice(2), ...choice(2)] }],
    ['a text to write', { items: [{ key: 'a', prompt: 'Why?', response_type: 'text' }] }],
    ['a question that is closed', { status: 'answered' }],
    ['a question of others', { may_answer: false }],
  ])('are not there for %s', (_, more) => expect(labels(more)).toEqual([]));
});

describe('what the browser tells', () => {
  const news = (seq: number, type: News['type'], asked?: Question): News => ({ seq, type, at: '2026-11-21T12:00:00Z', actor: { kind: 'agent' }, unread: true, task: { id: 't', title: 't', state: 'done' }, question: asked });
  const items = [news(5, 'task.ended'), news(4, 'question.asked', question({ type: 'non_blocking' })), news(3, 'question.asked', question()), news(2, 'question.asked', question())];
  it('is what came since, oldest first', () => expect(newsToShow(items, 2, 'all').map((each) => each.seq)).toEqual([3, 4, 5]));
  it('is only what stops work, if asked', () => expect(newsToShow(items, 0, 'urgent').map((each) => each.seq)).toEqual([2, 3]));
});
