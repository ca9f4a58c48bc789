import { expect, it } from 'vitest';
import { eventTypes } from '@/api/eventTypes';
import { eventWords } from './words';

it.each([
  ['question.timed_out', 'Question: timed out', 'Frage: abgelaufen'],
  ['member.signed_in', 'Person: signed in', 'Person: angemeldet'],
  ['thing.new_kind', 'thing: new kind', 'thing: new kind'],
] as const)('says %s in words', (type, en, de) => {
  expect(eventWords(type, 'en')).toBe(en);
  expect(eventWords(type, 'de')).toBe(de);
});

it.each(eventTypes)('has German words of its own for %s', (type) => {
  expect(eventWords(type, 'de')).not.toMatch(/[a-z]+\.[a-z]|_/);
  expect(eventWords(type, 'de').split(': ')[1]).not.toBe(type.split('.')[1]?.replaceAll('_', ' '));
});
