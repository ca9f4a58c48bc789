import { expect, it } from 'vitest';
import type { Question } from '@/api/types';
import { Lot } from '@/inbox/Lot';
import { Row } from '@/inbox/Row';
import { NewsItem } from '@/notification/NewsItem';
import { show } from '@/test/render';

const by = { kind: 'human', name: 'Ada' } as const;
const question = {
  id: 'q_1', type: 'approval', status: 'pending', risk: 'medium', title: 'Deploy 512?', task_id: 'task_1', task_title: 'Release the shop', project: 'shop',
  items: [{ key: 'a', prompt: 'Deploy 512?', response_type: 'approval' }, { key: 'b', prompt: 'When?', response_type: 'date' }],
  approvals: { required: 2 }, votes: [{ by, value: 'approve', at: '2026-11-21T12:00:00Z' }, { by, value: 'reject', at: '2026-11-21T12:01:00Z' }],
  asked_by: { kind: 'agent', name: 'builder' }, created_at: '2026-11-21T11:00:00Z', ask_count: 1,
} as unknown as Question;

const nothing = () => undefined;
const rest = { order: 'inbox', selected: false, waiting: 1, chosen: false, choosing: false, onOpen: nothing, onChoose: nothing } as const;

const facts = ['Deploy 512?', 'Medium risk', '1 of 2 approved, 1 rejected', '2 items', 'Release the shop', 'shop'];

it('a row of the inbox says what a question belongs to and how far it got', async () => {
  const { container } = await show(<Row row={{ question }} {...rest} />);
  for (const fact of facts) expect(container.textContent).toContain(fact);
});

it('so does a question that is answered together with others', async () => {
  const { baseElement } = await show(<Lot questions={[question, { ...question, id: 'q_2', votes: [] }]} onDecided={nothing} onPartly={nothing} onMoved={nothing} />);
  for (const fact of [...facts, '0 of 2 approved']) expect(baseElement.textContent).toContain(fact);
});

it('so does the news of a question', async () => {
  const task = { id: 'task_1', title: 'Release the shop' };
  const news = { seq: 1, type: 'question.asked', at: '2026-11-21T12:00:00Z', actor: question.asked_by, question, task } as unknown as Parameters<typeof NewsItem>[0]['news'];
  const { container } = await show(<NewsItem news={{ ...news, unread: true }} now={Date.parse('2026-11-21T12:05:00Z')} />);
  for (const fact of facts) expect(container.textContent).toContain(fact);
});

it('the title of the task is left out where it is the question’s', async () => {
  const { container } = await show(<Row row={{ question: { ...question, task_title: question.title, approvals: undefined, items: [] } }} {...rest} />);
  expect(container.textContent.split('Deploy 512?')).toHaveLength(2);
  expect(container.textContent).not.toContain('approved');
});
