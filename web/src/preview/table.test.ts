import { expect, it } from 'vitest';
import { cut } from './Code';
import { tableOf } from './table';

it.each([
  ['a\tb\n1\t2', [['a', 'b'], ['1', '2']]],
  ['| a | b |\n|---|---|\n| 1 | 2 |', [['a', 'b'], ['1', '2']]],
  ['a,b\n"x, ""y""",2', [['a', 'b'], ['x, "y"', '2']]],
  ['[{"a":1},{"b":"x"}]', [['a', 'b'], ['1', ''], ['', 'x']]],
])('%j is a table', (text, rows) => expect(tableOf(text)).toEqual(rows));

it.each(['one line', 'a\nb', '[{"n":12345678901234567890},{"n":1}]'])('%j is none', (text) => expect(tableOf(text)).toBeUndefined());

it('cuts a long text into blocks and loses nothing', () => {
  const text = `${'x'.repeat(50_000)}\n${'line\n'.repeat(1_000)}`;
  expect(cut(text).flat().join('').replaceAll('\n', '')).toBe(text.replaceAll('\n', ''));
  expect(cut(text).length).toBeGreaterThan(4);
});
