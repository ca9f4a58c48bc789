import { describe, expect, it } from 'vitest';
import type { Item, Question } from '@/api/types';
import { decisionOf, fateOf, fault, numberOf, picksDanger, suggestion, wireValues, type Value } from './item';
import type { QuestionText } from './text';

const text = new Proxy({}, { get: (_, name) => (name === 'required' || name === 'notNumber' || name === 'tooManyDigits' || name === 'notDate' ? name : (n: unknown) => `${String(name)} ${String(n)}`) }) as QuestionText;
const item = (more: Partial<Item>): Item => ({ key: 'k', prompt: 'p', ...more });

describe('what may be sent', () => {
  it.each<[string, Partial<Item>, Value | undefined, string | undefined]>([
    ['an empty text', { response_type: 'text' }, '  ', 'required'],
    ['no text where none is needed', { response_type: 'text', required: false }, undefined, undefined],
    ['a long text', { response_type: 'text', max_length: 3 }, '😀😀😀😀', 'tooLong 3'],
    ['four characters that are eight units', { response_type: 'text', max_length: 4 }, '😀😀😀😀', undefined],
    ['too few choices', { response_type: 'multi_choice', min: 2 }, ['a'], 'tooFew 2'],
    ['no choice where none will do', { response_type: 'multi_choice', min: 0 }, [], undefined],
    ['a word for a number', { response_type: 'number' }, 'ten', 'notNumber'],
    ['a number that would be rounded', { response_type: 'number' }, '9007199254740993', 'tooManyDigits'],
    ['a number below', { response_type: 'number', min: 3 }, '2,5', 'below 3'],
    ['a date that is none', { response_type: 'date' }, '2026-13-45', 'notDate'],
    ['false', { response_type: 'boolean' }, false, undefined],
    ['nothing for yes or no', { response_type: 'boolean' }, undefined, 'required'],
  ])('%s', (_, more, value, want) => expect(fault(item(more), value, text)).toBe(want));
});

it('reads numbers as people write them', () => {
  expect(['1', ' 2,5 ', '-3.25', '1e3', '', 'x', '1.2.3'].map(numberOf)).toEqual([1, 2.5, -3.25, 1000, undefined, undefined, undefined]);
});

it('suggests the default, else the one recommended option', () => {
  const options = [{ value: 'a', recommended: true }, { value: 'b', danger: true }];
  expect(suggestion(item({ response_type: 'choice', options }))).toBe('a');
  expect(suggestion(item({ response_type: 'choice', options, default: 'b' }))).toBe('b');
  expect(suggestion(item({ response_type: 'text' }))).toBeUndefined();
  expect(picksDanger(item({ options }), ['a', 'b'])).toBe(true);
  expect(picksDanger(item({ options }), 'a')).toBe(false);
});

it('sends what was given, in the form that the server takes', () => {
  const question = { items: [item({ key: 'n', response_type: 'number' }), item({ key: 't' }), item({ key: 'b', response_type: 'boolean' })] } as Question;
  expect(wireValues(question, { n: '2,5', t: '', b: false })).toEqual({ n: 2.5, b: false });
});

describe('what became of an approval', () => {
  const ended = (more: object, changed: object = {}) => ({ status: 'answered', action_hash: 'one', items: [item({ response_type: 'approval' })], resolution: { status: 'answered', ...more }, ...changed }) as unknown as Question;
  it.each<[string, Question, string | undefined, string]>([
    ['open', ended({}, { status: 'pending', resolution: undefined }), undefined, 'runs'],
    ['approved', ended({ answers: { k: 'approve' } }), 'approved', 'ran'],
    ['approved with a change', ended({ answers: { k: 'approve' }, action_text: '{}', action_hash: 'two' }), 'approved', 'notRun'],
    ['rejected', ended({ answers: { k: 'reject' } }), 'rejected', 'notRun'],
    ['withdrawn', ended({ status: 'cancelled' }, { status: 'cancelled' }), undefined, 'notRun'],
    ['one of several things', ended({ answers: { k: 'approve' } }, { items: [item({ response_type: 'approval' }), item({ key: 'b' })] }), undefined, 'ran'],
  ])('%s', (_, question, decision, fate) => expect([decisionOf(question), fateOf(question)]).toEqual([decision, fate]));
});
