import { describe, expect, test } from 'vitest';
import { completeDefinition, completeScript, type CompletionContext } from './complete';

const known: CompletionContext = {
  tools: [
    { name: 'shell', kind: 'built_in', description: 'A command', input: { type: 'object', properties: { run: { type: 'string', description: 'Lines' }, command: { type: 'array' } } } },
    { name: 'tracker.find', kind: 'server' },
  ],
  schema: {
    'x-names': { step: ['output', 'status'], error: ['code', 'exit_code'], script: ['inputs', 'answers', 'expect'], expect: ['state', 'asked'] },
    properties: { name: {}, steps: { type: 'array', items: { $ref: '#/$defs/step' } } },
    $defs: {
      step: {
        type: 'object',
        properties: {
          id: {}, tool: {}, input: {}, needs: { items: {} }, suspend: { type: 'boolean' }, on_error: { enum: ['ask', 'fail'], description: 'ask asks.' },
          on_reject: { anyOf: [{ enum: ['fail', 'skip'] }, { properties: { goto: {} } }] }, retry: { $ref: '#/$defs/retry', description: 'Tries again.' },
        },
      },
      retry: { properties: { attempts: { description: 'All tries.' } } },
    },
  },
};

const head = 'name: x\ninputs:\n  issue: {type: number}\n  kind:\n    type: string\nsteps:\n  - id: one\n    tool: shell\n    output: seen\n';

/** Returns the completions at the cursor of a text, which is written as |. */
const at = (text: string) => completeDefinition(text.replace('|', ''), text.indexOf('|'), known);
const labels = (text: string) => at(text)?.words.map(({ label }) => label);

describe('complete', () => {
  test.each([
    ['keys of the file', '|', ['name', 'steps']],
    ['keys of a step', `${head}    re|`, ['id', 'tool', 'input', 'needs', 'suspend', 'on_error', 'on_reject', 'retry']],
    ['keys below a reference', `${head}    retry: {at|`, ['attempts']],
    ['values of an enum', `${head}    on_error: |`, ['ask', 'fail']],
    ['values of an alternative', `${head}    on_reject: s|`, ['fail', 'skip']],
    ['yes and no', `${head}    suspend: t|`, ['true', 'false']],
    ['tools', `${head}  - {id: two, tool: s|`, ['shell', 'tracker.find']],
    ['what a tool takes', `${head}    input:\n      r|\n  - id: two\n    tool: tracker.find\n`, ['run', 'command']],
    ['what a tool that is named below takes', `steps:\n  - id: a\n    input: {r|}\n    tool: shell\n`, ['run', 'command']],
    ['steps to need', `${head}  - id: two\n    needs: [o|`, ['one', 'two']],
    ['steps to go to', `${head}    on_reject: {goto: o|`, ['one', 'end']],
    ['names in a template', `${head}    input: {run: "echo {{ se|`, ['inputs', 'trigger', 'run', 'steps', 'item', 'index', 'secrets', 'failure', 'seen']],
    ['inputs', `${head}    condition: inputs.i|`, ['issue', 'kind']],
    ['steps in an expression', `${head}    condition: steps.o|`, ['one']],
    ['what is known of a step', `${head}    condition: steps.one.|`, ['output', 'status']],
    ['what is known of an error', `${head}    condition: steps.one.error.e|`, ['code', 'exit_code']],
  ])('%s', (_, text, want) => {
    expect(labels(text)).toEqual(want);
  });

  test.each([['in prose', 'description: what |'], ['behind a template', `${head}    input: {run: "{{ seen }} and |`], ['below a value', `${head}    condition: seen.a|`]])('nothing %s', (_, text) => {
    expect(labels(text)).toBeUndefined();
  });

  test.each([
    ['keys', 'in|', ['inputs', 'answers', 'expect']],
    ['steps that ask', 'answers:\n  o|', ['one']],
    ['what is expected', 'expect:\n  st|', ['state', 'asked']],
    ['steps to expect', 'expect:\n  steps: {o|', ['one']],
    ['no values', 'answers:\n  one: a|', undefined],
  ])('%s in the answers for a test', (_, text, want) => {
    expect(completeScript(text.replace('|', ''), text.indexOf('|'), head, known.schema)?.words.map(({ label }) => label)).toEqual(want);
  });

  test('words come with what they mean', () => {
    expect(at(`${head}    re|`)?.words.at(-1)).toEqual({ label: 'retry', apply: 'retry: ', about: 'Tries again.', kind: 'key' });
    expect(at(`${head}  - {id: two, tool: tr|`)).toMatchObject({ typed: 'tr', words: [{ about: 'A command' }, { detail: 'server' }] });
  });
});
