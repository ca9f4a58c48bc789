import { expect, it } from 'vitest';
import { changedLines, linesOf, type Line } from './highlight';

const textsOf = (lines: Line[] | undefined) => lines?.map(({ sign = '', tokens }) => sign + tokens.map(({ text }) => text).join(''));

it('colours a file by its name and keeps every character', () => {
  const text = 'def price(items):\n    """One\n    two"""\n    return 1  # no <tax>\n\n';
  const lines = linesOf(text, '/w/price.py');
  expect(textsOf(lines)).toEqual(text.split('\n').slice(0, -1));
  expect(lines?.[0]?.tokens[0]).toEqual({ text: 'def', role: 'keyword' });
  expect(lines?.[2]?.tokens[0]).toEqual({ text: '    two"""', role: 'string' });
  expect(linesOf(text, 'notes.unknown')?.[0]?.tokens).toEqual([{ text: 'def price(items):' }]);
});

it('gives no colours to a line with marked characters, nor to a long text', () => {
  expect(linesOf('return раypal', 'a.py')?.[0]?.tokens).toEqual([{ text: 'return раypal' }]);
  expect(linesOf('x'.repeat(5_000), 'a.py')).toBeUndefined();
  expect(linesOf('x\n'.repeat(100_000), 'a.py')).toBeUndefined();
});

it('shows what a change takes away and adds', () => {
  expect(textsOf(changedLines('a\nb\nc\n', 'a\nB\nc\nd\n', 'x.txt'))).toEqual([' a', '-b', '+B', ' c', '+d']);
  expect(textsOf(changedLines('', 'a', 'x.txt'))).toEqual(['+a']);
  expect(textsOf(changedLines('a', 'a\n', 'x.txt'))).toEqual(['-a', '+a']);
  const [was, is] = ['w\n'.repeat(3_000), 'i\n'.repeat(3_000)];
  expect(changedLines(was, is, 'x.txt')).toHaveLength(6_000);
});
