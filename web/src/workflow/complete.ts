import { descriptionOf, schemasAt, valuesIn, type JSONSchema, type Names } from './jsonSchema';
import { cursorAt, type Cursor } from './cursor';
import type { ToolInfo } from './types';

/** A word that may stand at the cursor. */
export interface Word {
  label: string;
  /** The text to insert, if it is more than the label. */
  apply?: string;
  detail?: string;
  about?: string;
  kind: 'key' | 'value' | 'step' | 'tool' | 'name';
}

/** The data that completion needs besides the text. */
export interface CompletionContext {
  schema?: JSONSchema;
  tools: readonly ToolInfo[];
}

/** The completions for the word that was typed last. */
export interface Completions {
  typed: string;
  words: Word[];
}

/** Returns the completions at an offset in the script of a test, or undefined if there are none. */
export function completeScript(script: string, offset: number, source: string, schema: JSONSchema | undefined): Completions | undefined {
  const cursor = cursorAt(script.slice(0, offset));
  if (!cursor || cursor.key !== undefined) return undefined;
  const [first, second, ...more] = cursor.path;
  const steps = first === 'tools' || first === 'answers' ? second === undefined : first === 'expect' && second !== undefined && more.length === 0;
  const names = schema?.['x-names'] ?? {};
  const keys = (first === undefined ? names.script : first === 'expect' && second === undefined ? names.expect : undefined) ?? [];
  const words: Word[] = steps ? stepsOf(source) : keys.map((label) => ({ label, kind: 'key' }));
  return words.length > 0 ? { typed: cursor.typed, words: words.map((word) => ({ ...word, apply: `${word.label}: ` })) } : undefined;
}

/** Returns the completions at an offset in a definition, or undefined if there are none. */
export function completeDefinition(source: string, offset: number, context: CompletionContext): Completions | undefined {
  const before = source.slice(0, offset);
  const inExpression = completeExpression(source, before, context.schema?.['x-names'] ?? {});
  if (inExpression) return inExpression;
  const cursor = cursorAt(before);
  if (!cursor) return undefined;
  const words = cursor.key === undefined ? keysAt(source, before, cursor, context) : valuesAt(source, before, cursor, context);
  return words.length > 0 ? { typed: cursor.typed, words } : undefined;
}

const allMatches = (source: string, pattern: RegExp) => [...new Set([...source.matchAll(pattern)].map((found) => found[1] ?? ''))];

const stepsOf = (source: string): Word[] => allMatches(source, /(?:^|[\s{,-])id:\s*([a-z][a-z0-9_]*)/g).map((label) => ({ label, kind: 'step' }));

const nameWords = (labels: readonly string[], detail?: string): Word[] => labels.map((label) => ({ label, detail, kind: 'name' }));

const inputsOf = (source: string): Word[] => {
  const block = /^inputs:[^\n]*\n((?:[ \t]+[^\n]*\n|\n)*)/m.exec(`${source}\n`)?.[1] ?? '';
  const indent = /^ +/.exec(block)?.[0] ?? '';
  return indent ? nameWords(allMatches(block, new RegExp(`^${indent}([A-Za-z]\\w*):`, 'gm'))) : [];
};

/** Returns the tool of the step that contains the offset. */
function toolAt(source: string, offset: number): string | undefined {
  const starts = [...source.matchAll(/^ *- .*$/gm)].filter((found) => /[\s{]id:|tool:/.test(found[0]));
  const at = starts.findLastIndex((found) => found.index < offset);
  if (at < 0) return undefined;
  return /\btool:\s*([\w./-]+)/.exec(source.slice(starts[at]?.index, starts[at + 1]?.index))?.[1];
}

/**
 * Returns the schema that applies at a path, and the path in it. Below the input of a step, this is the tool's own
 * schema.
 */
function schemaFor(source: string, before: string, path: readonly string[], { schema, tools }: CompletionContext): { root: JSONSchema; path: readonly string[] } | undefined {
  const input = path.indexOf('input');
  if (input === 2 && path[1] === '[]') {
    const name = toolAt(source, before.length);
    const root = tools.find((tool) => tool.name === name)?.input;
    return root && typeof root === 'object' ? { root, path: path.slice(input + 1) } : undefined;
  }
  return schema && { root: schema, path };
}

/** Reports whether the value at a path is the id of a step. */
const isStepRef = (path: readonly string[], key?: string) =>
  key === 'goto' || (key === 'from' && path.at(-1) === 'repeat') || path.at(-1) === 'goto' || (key === undefined && path.at(-1) === '[]' && path.at(-2) === 'needs');

function keysAt(source: string, before: string, { path }: Cursor, context: CompletionContext): Word[] {
  if (isStepRef(path)) return path.at(-1) === '[]' ? stepsOf(source) : [];
  const at = schemaFor(source, before, path, context);
  if (!at) return [];
  const found = new Map<string, Word>();
  for (const schema of schemasAt(at.root, at.path)) {
    for (const [label, of] of Object.entries(schema.properties ?? {})) found.set(label, { label, apply: `${label}: `, about: descriptionOf(at.root, of), kind: 'key' });
    if (at.path.at(-1) === '[]') valuesIn(schema).forEach((label) => found.set(label, { label, kind: 'value' }));
  }
  return [...found.values()];
}

function valuesAt(source: string, before: string, { path, key = '' }: Cursor, context: CompletionContext): Word[] {
  if (key === 'tool' && path.at(-1) !== 'input') return context.tools.map(({ name, description, kind }) => ({ label: name, detail: kind === 'built_in' ? undefined : kind, about: description, kind: 'tool' }));
  if (isStepRef(path, key)) return [...stepsOf(source), { label: 'end', kind: 'step' }];
  const at = schemaFor(source, before, [...path, key], context);
  if (!at) return [];
  return [...new Set(schemasAt(at.root, at.path).flatMap(valuesIn))].map((label) => ({ label, kind: 'value' }));
}

const roots = ['inputs', 'trigger', 'run', 'steps', 'item', 'index', 'secrets', 'failure'];

/** Returns the completions of a name, if the text before the cursor ends in a template or an expression. */
function completeExpression(source: string, before: string, names: Names): Completions | undefined {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const template = line.slice(line.lastIndexOf('{{') + 2);
  const isTemplate = line.includes('{{') && !template.includes('}}');
  const bare = /(?:^|[\s{,])(?:condition|if|until):\s+(.*)$/.exec(line)?.[1];
  const text = isTemplate ? template : bare;
  if (text === undefined) return undefined;
  const path = /(?<![\w.])((?:\w+\.)*)(\w*)$/.exec(text);
  if (!path) return undefined;
  const [, parents = '', typed = ''] = path;
  const words = namesBelow(source, parents.split('.').slice(0, -1), names);
  return words.length > 0 ? { typed, words } : undefined;
}

function namesBelow(source: string, parents: readonly string[], { run = [], step = [], error = [], failure = [] }: Names): Word[] {
  const [first, second, ...more] = parents;
  if (first === undefined) return [...nameWords(roots), ...nameWords(allMatches(source, /(?:^|[\s{,])output:\s*([A-Za-z]\w*)/g), 'output')];
  if (second === undefined) {
    if (first === 'steps') return stepsOf(source);
    if (first === 'inputs') return inputsOf(source);
    if (first === 'run') return nameWords(run);
    if (first === 'failure') return nameWords(failure);
    return [];
  }
  if (first !== 'steps') return [];
  if (more.length === 0) return nameWords(step);
  return more.length === 1 && more[0] === 'error' ? nameWords(error) : [];
}
