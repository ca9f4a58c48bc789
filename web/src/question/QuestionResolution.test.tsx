import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Actor, Question } from '@/api/types';
import { show } from '@/test/render';
import { QuestionResolution } from './QuestionResolution';

const cancelled = (by: Actor | undefined, decidedBy: string) => ({
  id: 'q_1', type: 'blocking', status: 'cancelled', risk: 'low', title: 'Which colour?', items: [], asked_by: { kind: 'agent', name: 'builder' },
  resolution: { status: 'cancelled', decided_by: decidedBy, answered_by: by, at: '2026-11-21T12:00:00Z', comment: 'the task was cancelled: no longer needed' },
} as unknown as Question);

it('a question of a cancelled task names the person who cancelled it, and why', async () => {
  await show(<QuestionResolution question={cancelled({ kind: 'human', id: 'mem_1', name: 'ben' }, 'human')} />);
  const said = screen.getByRole('status').textContent;
  expect(said).toContain('ben withdrew the question');
  expect(said).toContain('the task was cancelled: no longer needed');
  expect(said).not.toMatch(/Fermata|system/i);
});

it('only what Fermata itself withdrew names Fermata', async () => {
  await show(<QuestionResolution question={cancelled(undefined, 'system')} />);
  expect(screen.getByRole('status').textContent).toContain('Fermata withdrew the question');
});

it('the end of its task closed the question: nobody withdrew it', async () => {
  const question = { ...cancelled(undefined, 'agent'), resolution: { status: 'cancelled', decided_by: 'agent', answered_by: { kind: 'agent', name: 'hands' }, at: '2026-11-21T12:00:00Z', task_ended: 'done' } } as unknown as Question;
  await show(<QuestionResolution question={question} />);
  const said = screen.getByRole('status').textContent;
  expect(said).toContain('The task ended');
  expect(said).not.toContain('hands');
});

it('an answer that could still be taken back stays readable, and says that it did not count', async () => {
  const question = cancelled({ kind: 'human', id: 'mem_1', name: 'ben' }, 'human');
  const held = { by: { kind: 'human', id: 'mem_2', name: 'ann' }, at: '2026-11-21T11:59:58Z', release_at: '2026-11-21T12:00:03Z', answer: 'red', answers: { answer: 'red' }, comment: 'as the door' };
  const overtaken = { ...question, items: [{ key: 'answer', prompt: 'Which colour?', response_type: 'text' }], resolution: { ...question.resolution, overtaken: held } } as unknown as Question;
  await show(<QuestionResolution question={overtaken} />);
  const said = screen.getByRole('status').textContent;
  expect(said).toContain('ann had answered: red');
  expect(said).toContain('did not count');
  expect(said).toContain('as the door');
});
