import { expect, it } from 'vitest';
import { objectOf, valuesOf } from './inputs';
import type { Input } from './types';

const input = (type: Input['type']): Input => ({ name: 'x', type, required: false });
const read = (type: Input['type'], text: string) => valuesOf([input(type)], { x: text });

it('refuses numbers that JavaScript would change', () => {
  for (const [type, text] of [['number', '9007199254740993'], ['object', '{"a": [9007199254740993]}'], ['array', '[-1e16]']] as const) {
    expect(read(type, text)).toEqual({ values: {}, wrong: { x: 'digits' } });
  }
  expect(read('number', '9007199254740991').values).toEqual({ x: 9007199254740991 });
  expect(read('object', '{"a": [0.1, "9007199254740993"]}').values).toEqual({ x: { a: [0.1, '9007199254740993'] } });
  expect(objectOf('{"a": 9007199254740993}')).toBeUndefined();
});
