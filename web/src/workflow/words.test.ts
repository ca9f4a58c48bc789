import { describe, expect, it } from 'vitest';
import { inputWords, titleOf } from './words';

const when = (at: string) => `on ${at}`;

describe('a run in a list', () => {
  it('that was planned has the time as the reader writes it', () => {
    const run = { workflow: 'report', title: 'report at 2026-11-22T06:50:00Z', trigger: 'schedule' as const, cause: { at: '2026-11-22T06:50:00Z' } };
    expect(titleOf(run, when)).toBe('report, on 2026-11-22T06:50:00Z');
    expect(titleOf({ ...run, cause: {} }, when)).toBe(run.title);
    expect(titleOf({ ...run, title: 'report for octo/hello#7', trigger: 'label_added' }, when)).toBe('report for octo/hello#7');
  });

  it.each([
    [{}, ''], [undefined, ''], [{ n: null }, ''],
    [{ dry_run: true, hosts: ['a'], version: '1.4.0', limit: 3 }, 'version: 1.4.0 · limit: 3 · dry_run: true · hosts: ["a"]'],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, 'a: 1 · b: 2 · c: 3 · d: 4 · …'],
    [{ text: 'x'.repeat(100) }, `text: ${'x'.repeat(40)}…`],
  ])('tells what it was given: %j', (inputs, words) => expect(inputWords(inputs)).toBe(words));
});
