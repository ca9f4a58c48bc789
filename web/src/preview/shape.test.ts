import { describe, expect, it } from 'vitest';
import { readableOf, type ReadableAction } from './shape';

/** Returns the shape and the rest of an action that is given as JSON text. */
const read = (json: string): ReadableAction => readableOf(json);

describe('an action as people read it', () => {
  it('is a command and its other fields', () => {
    expect(read('{"tool":"Bash","input":{"command":"git push"},"dir":"/w"}')).toEqual({ shape: { kind: 'command', command: 'git push' }, rest: '"tool": "Bash"\n"dir": "/w"' });
  });

  it('is the text of a file', () => {
    expect(read('{"tool":"Write","input":{"file_path":"/w/a.py","content":"a\\nb\\n"},"dir":"/w"}')).toEqual({
      shape: { kind: 'write', path: '/w/a.py', content: 'a\nb\n' }, tool: 'Write', rest: '"tool": "Write"\n"dir": "/w"',
    });
  });

  it('is one change of a file, or several', () => {
    expect(read('{"tool":"Edit","input":{"file_path":"a","old_string":"x","new_string":"","replace_all":true}}')).toEqual({
      shape: { kind: 'edit', path: 'a', changes: [{ before: 'x', after: '', everywhere: true }] }, tool: 'Edit', rest: '"tool": "Edit"',
    });
    expect(read('{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"p","newText":"q","replaceAll":true}]}')).toEqual({
      shape: { kind: 'edit', path: 'a', changes: [{ before: 'x', after: 'y' }, { before: 'p', after: 'q', everywhere: true }] }, rest: '',
    });
  });

  it('is a patch, or a message', () => {
    expect(read('{"patch":"*** Begin Patch\\n+a","id":1.50}')).toEqual({ shape: { kind: 'patch', patch: '*** Begin Patch\n+a' }, rest: '"id": 1.50' });
    expect(read('{"tool":"send","arguments":{"to":["a@x","b@x"],"cc":"c@x","subject":"Hi","body":"Dear"}}')).toEqual({
      shape: { kind: 'message', to: 'a@x, b@x', subject: 'Hi', body: 'Dear' }, tool: 'send', rest: '"tool": "send"\n"arguments": {"cc": "c@x"}',
    });
  });

  it('is a table with every digit of its numbers', () => {
    expect(read('{"tool":"pay","input":{"payments":[{"to":"A","amount":120.50},{"to":"B","amount":12345678901234567890,"note":null}]}}')).toEqual({
      shape: { kind: 'table', name: 'payments', rows: [['to', 'amount', 'note'], ['A', '120.50', ''], ['B', '12345678901234567890', 'null']] }, tool: 'pay', rest: '"tool": "pay"',
    });
  });

  it.each([
    // Only the tool knows which of two fields counts.
    '{"path":"a","file_path":"b","content":"x"}',
    '{"path":"a","path":"b","content":"x"}',
    '{"path":"a","content":"x","contents":"y"}',
    '{"to":"a","body":"x","text":"y"}',
    '{"to":"a","subject":7,"body":"x"}',
    '{"to":["a",7],"body":"x"}',
    '{"path":7,"content":"x"}',
    '{"path":"a\\nb","content":"x"}',
    '{"to":"a","subject":"Hi\\nBcc: b","body":"x"}',
    '{"to":["a\\nb"],"body":"x"}',
    '{"path":"a","old_string":"x","new_string":"y","replace_all":"no"}',
    '{"path":"a","edits":[{"old_string":"x","new_string":"y","hidden":"z"}]}',
    '{"path":"a","edits":[]}',
    '{"path":"a","old_string":"x","new_string":"y","edits":[{"old_string":"p","new_string":"q"}]}',
    '{"rows":[{"a":1},{"a":[2]}]}',
    '{"rows":[{"a":1,"a":2},{"a":1}]}',
    '{"rows":[{"a":1},2]}',
    '{"rows":[{"a":1},{"a":2}],"more":[{"a":1},{"a":2}]}',
    // What is in another object, or has another name, could change what the tool does.
    '{"path":"a","input":{"content":"x"}}',
    '{"path":"a","content":"x","script":"rm -rf /"}',
    '{"tool":"send","input":{"to":"a","body":"x","then":"b"}}',
    '{"n":1}',
    '[1,2]',
  ])('%s is shown as JSON', (json) => {
    const { shape, rest } = read(json);
    expect(shape.kind).toBe('call');
    expect(rest).toBe('');
  });

  it('names the tool, and is text if it is not JSON', () => {
    expect(read('{"tool":"deploy","n":1}').shape).toMatchObject({ kind: 'call', tool: 'deploy' });
    expect(read('not JSON').shape).toMatchObject({ kind: 'call', json: 'notJSON' });
  });
});
