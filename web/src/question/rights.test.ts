import { expect, it } from 'vitest';
import type { Question, Whoami } from '@/api/types';
import { rightsOf } from './rights';

const question = (may_answer: boolean) => ({ id: 'q_1', project: 'shop', may_answer }) as Question;
const member = (role: Whoami['role'], inShop?: string) => ({ role, projects: inShop ? { shop: inShop } : undefined }) as unknown as Whoami;
const offered = (asked: Question, me: Whoami | undefined) => Object.entries(rightsOf(asked, me)).flatMap(([tool, may]) => (may ? [tool] : [])).sort();

const all = ['assign', 'clarify', 'discuss', 'extend', 'snooze', 'withdraw'];

it.each([
  ['a responder who may answer', question(true), member('responder'), all],
  ['a responder who may not', question(false), member('responder'), ['discuss', 'withdraw']],
  ['an operator who may not', question(false), member('operator'), ['assign', 'discuss', 'withdraw']],
  ['an admin', question(true), member('admin'), all],
  ['a viewer', question(false), member('viewer'), []],
  ['a viewer who answers in the project', question(true), member('viewer', 'responder'), all],
  ['an admin who only reads in the project', question(false), member('admin', 'viewer'), []],
  ['nobody yet', question(true), undefined, []],
])('%s is offered what the server lets this person do', (_, asked, me, want) => {
  expect(offered(asked, me)).toEqual(want);
});
