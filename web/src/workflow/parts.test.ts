import { describe, expect, it } from 'vitest';
import { filtersOf, queryOf } from './filters';
import { lineOf } from './GraphView';
import { initialOf, valuesOf } from './inputs';
import { partsOf } from './parts';
import { childrenOf, countOf, entriesOf, failedStep, progressOf, stepDuration } from './progress';
import { marksOf } from './Source';
import { shownStateOf } from './StepBadge';
import { definitionOf, formOf, groupsOf, pairsOf, faultsOf } from './tool';
import type { Graph, Input, NamedTool, Step } from './types';

const at = '2026-11-22T10:00:00Z';
const step = (name: string, more: Partial<Step> = {}): Step => ({ step: name, occurrence: 1, attempt: 1, tool: 'http', state: 'done', started_at: at, ...more });
const input = (name: string, type: Input['type'], more: Partial<Input> = {}): Input => ({ name, type, required: false, ...more });

describe('inputs of a run', () => {
  const inputs = [input('n', 'number', { required: true }), input('s', 'string'), input('b', 'boolean', { default: true }), input('o', 'object'), input('l', 'array', { default: ['a'] })];

  it('begin with their defaults', () => expect(initialOf(inputs)).toEqual({ n: '', s: '', b: 'true', o: '', l: '[\n  "a"\n]' }));

  it('become values of their types; what is empty is left out', () => {
    expect(valuesOf(inputs, { n: ' 1,5 ', s: '', b: 'false', o: '{"a":1}', l: '[]' })).toEqual({ values: { n: 1.5, b: false, o: { a: 1 }, l: [] }, wrong: {} });
  });

  it.each([
    [{}, { n: 'needed' }], [{ n: 'x' }, { n: 'number' }], [{ n: '1', o: '[]' }, { o: 'object' }], [{ n: '1', l: '{}' }, { l: 'array' }], [{ n: '1', o: '{' }, { o: 'json' }],
  ])('%j is wrong: %j', (typed, wrong) => expect(valuesOf(inputs, typed).wrong).toEqual(wrong));
});

describe('steps of a run', () => {
  const steps = [
    step('a'), step('b', { state: 'failed' }), step('a', { occurrence: 2, state: 'waiting', child_id: 'task_1' }),
    step('c', { state: 'failed', tool: 'http' }), step('c', { item: 1, state: 'failed' }), step('c', { item: 0 }),
  ];

  it('show their newest occurrence', () => {
    const found = progressOf(steps);
    expect([found.get('a')?.step.occurrence, found.get('a')?.times, found.get('c')?.items]).toEqual([2, 2, { all: 2, done: 1, failed: 1 }]);
  });

  it('hold their items, in order', () => {
    const entries = entriesOf(steps);
    expect(entries).toHaveLength(4);
    expect(entries[3]?.items.map((item) => item.item)).toEqual([0, 1]);
    expect(countOf([])).toEqual({ all: 0, done: 0, failed: 0 });
  });

  it('say what they wait for', () => {
    expect(childrenOf({ steps })).toEqual(['task_1']);
    expect(failedStep({ steps })?.step).toBe('c');
    const graph: Graph = { nodes: [{ id: 'c', kind: 'step' }, { id: 'tell', kind: 'step', phase: 'on_failure' }], edges: [] };
    const handled = [...steps, step('tell', { state: 'failed' }), step('on_failure.comment', { state: 'failed' })];
    expect(failedStep({ steps: handled, graph })?.step).toBe('c');
    expect(failedStep({ steps: [step('tell', { state: 'failed' })], graph })?.step).toBe('tell');
    expect([shownStateOf(undefined), shownStateOf(steps[2]), shownStateOf(step('q', { state: 'waiting', question_id: 'q_1' })), shownStateOf(step('w', { state: 'waiting' }))]).toEqual(['none', 'child', 'needs', 'waiting']);
  });

  it('took as long as they took', () => {
    const now = Date.parse(at) + 5_000;
    expect(stepDuration(step('a', { ended_at: '2026-11-22T10:00:02Z' }), now)).toBe(2_000);
    expect(stepDuration(step('a', { state: 'running' }), now)).toBe(5_000);
    expect(stepDuration(step('a', { state: 'skipped', ended_at: at }), now)).toBeUndefined();
  });
});

describe('filters of runs', () => {
  it('are read from the address', () => {
    expect(queryOf(filtersOf({ workflow: 'w', state: 'needs', trigger: 'webhook' }))).toEqual({ workflow: 'w', state: ['awaiting_input', 'awaiting_approval'], trigger: 'webhook' });
  });
  it('forget what is none', () => expect(queryOf(filtersOf({ state: 'happy', trigger: 'moon' }))).toEqual({ workflow: undefined, state: undefined, trigger: undefined }));
});

describe('tools', () => {
  const tool = (more: Partial<NamedTool>): NamedTool => ({ name: 't', updated_at: at, updated_by: { kind: 'human' }, ...more });

  it.each([
    tool({ agent: { prompt: 'Do it', runner: 'claude', size: 'small' }, schema: { type: 'object' }, timeout: '30m' }),
    tool({ command: ['make', 'all tests'], description: 'Checks', isolated: true }),
    tool({ server: { url: 'https://example.com', headers: { Authorization: 'env:TOKEN' } } }),
    tool({ server: { command: ['npx', 'x'], env: { A: 'b=c' } } }),
  ])('come out of the form as they went in', (given) => {
    const { name: _, updated_at: __, updated_by: ___, ...definition } = given;
    expect(definitionOf(formOf(given))).toEqual(definition);
    expect(faultsOf(formOf(given))).toEqual({});
  });

  it('say what is wrong', () => {
    expect(faultsOf(formOf())).toEqual({ name: 'needed', prompt: 'needed' });
    expect(faultsOf({ ...formOf(), name: 'A b', kind: 'server', headers: 'x' })).toEqual({ name: 'name', url: 'needed', headers: 'pairs' });
    expect(faultsOf({ ...formOf(), name: 'a', kind: 'json', json: '[]' })).toEqual({ json: 'object' });
    expect(pairsOf('A=1\n\nB = x=y')).toEqual({ A: '1', B: 'x=y' });
  });

  it('are listed by what they are; a server that is down says so', () => {
    const groups = groupsOf(
      [{ name: 'wait', kind: 'built_in' }, { name: 'checks', kind: 'command' }, { name: 'up.read', kind: 'server' }, { name: 'down', kind: 'server', error: 'no answer' }],
      [tool({ name: 'checks', command: ['make'] }), tool({ name: 'up', server: { url: 'x' } }), tool({ name: 'down', server: { url: 'y' } })],
    );
    expect(groups.map(({ kind, server, error, tools }) => [kind, server, error, tools.length])).toEqual([
      ['command', undefined, undefined, 1], ['server', 'up', undefined, 1], ['server', 'down', 'no answer', 0], ['built_in', undefined, undefined, 1],
    ]);
  });
});

it('shows a text of several lines as such', () => {
  expect(partsOf({ exit_code: 0, output: 'a\nb\n' })).toEqual([{ name: '', text: '{\n  "exit_code": 0\n}' }, { name: 'output', text: 'a\nb\n' }]);
  expect(partsOf({ output: '2\n' })).toEqual([{ name: '', text: '{\n  "output": "2\\n"\n}' }]);
  expect(partsOf('a\nb')).toEqual([{ name: '', text: 'a\nb' }]);
  expect(partsOf(['a\nb'])).toHaveLength(1);
});

it('marks a line by the worst of it', () => {
  const marks = marksOf([{ line: 3, column: 1, message: 'a', warning: true }, { line: 3, column: 2, message: 'b' }, { line: 3, column: 3, message: 'c', warning: true }]);
  expect([...marks]).toEqual([[3, 'problem']]);
});

it('draws a line out of a node, along its track and into another', () => {
  const line = lineOf({ y: 100, toY: 20, x: 30, toX: 30, out: 12, back: true });
  expect(line.path).toBe('M30 100H23Q18 100 18 95V25Q18 20 23 20H23');
});
