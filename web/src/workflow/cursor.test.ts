import { describe, expect, test } from 'vitest';
import { cursorAt } from './cursor';

const head = 'name: x\nsteps:\n  - id: one\n    tool: shell\n    input:\n      run: ls\n';

describe('cursorAt', () => {
  test.each([
    ['a key of the file', 'na', { path: [], typed: 'na' }],
    ['a key below a step', `${head}  - id: two\n    to`, { path: ['steps', '[]'], typed: 'to' }],
    ['a key behind the dash', `${head}  - i`, { path: ['steps', '[]'], typed: 'i' }],
    ['a list that is not indented', 'steps:\n- id: one\n  to', { path: ['steps', '[]'], typed: 'to' }],
    ['a value', `${head}    on_error: a`, { path: ['steps', '[]'], key: 'on_error', typed: 'a' }],
    ['a value that begins', `${head}    on_error: `, { path: ['steps', '[]'], key: 'on_error', typed: '' }],
    ['a key of the input', `${head}      co`, { path: ['steps', '[]', 'input'], typed: 'co' }],
    ['an entry of a list', `${head}    needs:\n      - o`, { path: ['steps', '[]', 'needs', '[]'], typed: 'o' }],
    ['in brackets', `${head}    needs: [one, t`, { path: ['steps', '[]', 'needs', '[]'], typed: 't' }],
    ['a key in braces', `${head}  - {id: two, to`, { path: ['steps', '[]'], typed: 'to' }],
    ['a value in braces', `${head}  - {id: two, tool: s`, { path: ['steps', '[]'], key: 'tool', typed: 's' }],
    ['braces in braces', `${head}  - {id: two, repeat: {from: o`, { path: ['steps', '[]', 'repeat'], key: 'from', typed: 'o' }],
    ['back in the file', `${head}\n# more\nfin`, { path: [], typed: 'fin' }],
    ['in a handler', `${head}finally:\n  - id: tidy\n    to`, { path: ['finally', '[]'], typed: 'to' }],
  ])('%s', (_, before, want) => {
    expect(cursorAt(before)).toEqual(want);
  });

  test.each([['in a text', 'name: x\ndescription: what it'], ['in quotes', `${head}  - {id: "a, b`]])('no word of a definition stands %s', (_, before) => {
    expect(cursorAt(before)).toBeUndefined();
  });
});
