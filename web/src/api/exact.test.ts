import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJSON, commandOf, hashOf, addActionTexts, indentJSON } from './exact';

interface Kept { action_text?: string; resolution?: Kept; items?: Kept[] }
const kept = (text: string) => JSON.parse(addActionTexts(text)) as Kept;

describe('the exact text of an action', () => {
  it('keeps what JSON.parse loses', () => {
    const action = '{"10":1.0,"2":12345678901234567890,"a":"\\u003c\\"}","e":[1e400,{}]}';
    expect(kept(`{"id":"q","action":${action},"action_hash":"x"}`).action_text).toBe(action);
  });

  it('is found within lists and resolutions, whatever stands first', () => {
    const text = '{"items":[ {"action_hash":"x", "action": "run" },{"action":1}],"resolution":{"action":[1, 2],"action_hash":"y"}}';
    const all = kept(text);
    expect(all.items?.map((item) => item.action_text)).toEqual(['"run"', undefined]);
    expect(all.resolution?.action_text).toBe('[1, 2]');
  });

  it('takes nothing within an action for its own', () => {
    const text = '{"action":{"action":"safe","action_hash":"x"},"action_hash":"y"}';
    expect(kept(text)).toEqual({ action: { action: 'safe', action_hash: 'x' }, action_hash: 'y', action_text: '{"action":"safe","action_hash":"x"}' });
  });

  it('hashes as the server does', async () => {
    const text = canonicalJSON('{ "cmd" : "a < b && c" , "n": [ 1.0 ] }');
    expect(text).toBe('{"cmd":"a < b && c","n":[1.0]}');
    expect(canonicalJSON('{"cmd":"a \\u003C b \\\\u0026 \\u0026"}')).toBe('{"cmd":"a < b \\\\u0026 &"}');
    expect(await hashOf(text)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('has its command as it was typed', () => {
    expect(commandOf('{"tool":"Bash","input":{"command":"a \\\\\\n  \\u0026\\u0026 b <c","timeout":1.0},"dir":"/w"}')).toEqual({
      command: 'a \\\n  && b <c', rest: '"tool": "Bash"\n"input": {"timeout": 1.0}\n"dir": "/w"',
    });
    expect(commandOf('{"cmd":["bash","-lc","echo \'a b\' && ls"]}')).toEqual({ command: `bash -lc 'echo '\\''a b'\\'' && ls'`, rest: '' });
    expect(commandOf('"ls -la"')).toEqual({ command: 'ls -la', rest: '' });
    for (const other of ['{"tool":"Write","input":{"path":"a"}}', '{"command":"a","input":{"command":"b"}}', '{"command":{"deep":1}}', '[1]', 'no JSON']) {
      expect(commandOf(other)).toBeUndefined();
    }
  });

  it('is set out on lines without a change', () => {
    const text = '{"a":[1.0,{}],"b":"x: {1,2}","c":[]}';
    expect(indentJSON(text)).toBe('{\n  "a": [\n    1.0,\n    {}\n  ],\n  "b": "x: {1,2}",\n  "c": []\n}');
    expect(canonicalJSON(indentJSON(text))).toBe(text);
  });
});
