import { hasExactNumbers } from '@/api/number';
import type { Input } from './types';

/** The text that was typed for each input. A choice is kept as text, too. */
export type TypedInputs = Record<string, string>;

/** The ways in which a value can be wrong. */
export type InputFault = 'needed' | 'number' | 'digits' | 'object' | 'array' | 'json';

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isStructured = (type: Input['type']) => type === 'object' || type === 'array';

/** Returns a value as a person would type it. */
export function writtenOf(input: Pick<Input, 'type'>, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (isStructured(input.type)) return JSON.stringify(value, null, 2);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the initial content of the form. */
export const initialOf = (inputs: readonly Input[]): TypedInputs => Object.fromEntries(inputs.map((input) => [input.name, writtenOf(input, input.default)]));

/** Returns the values of what was typed, and what is wrong. Empty fields are left out. */
export function valuesOf(inputs: readonly Input[], typed: TypedInputs): { values: Record<string, unknown>; wrong: Partial<Record<string, InputFault>> } {
  const values: Record<string, unknown> = {};
  const wrong: Partial<Record<string, InputFault>> = {};
  for (const input of inputs) {
    const text = typed[input.name] ?? '';
    if (text.trim() === '') {
      if (input.required) wrong[input.name] = 'needed';
      continue;
    }
    const read = valueOf(input, text);
    if ('wrong' in read) wrong[input.name] = read.wrong;
    else values[input.name] = read.value;
  }
  return { values, wrong };
}

function valueOf(input: Input, text: string): { value: unknown } | { wrong: InputFault } {
  switch (input.type) {
    case 'string':
      return { value: text };
    case 'boolean':
      return { value: text === 'true' };
    case 'number': {
      const value = Number(text.trim().replace(',', '.'));
      if (!Number.isFinite(value)) return { wrong: 'number' };
      return hasExactNumbers(value) ? { value } : { wrong: 'digits' };
    }
    default: {
      const value = jsonOf(text);
      if (value === undefined) return { wrong: 'json' };
      if (!hasExactNumbers(value)) return { wrong: 'digits' };
      return (input.type === 'array' ? Array.isArray(value) : isObject(value)) ? { value } : { wrong: input.type };
    }
  }
}

/** Returns the value of a JSON text, or undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the object of a JSON text, or undefined if the text is not a JSON object or has a number that is too long. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  const value = jsonOf(text);
  return isObject(value) && hasExactNumbers(value) ? (value as Record<string, unknown>) : undefined;
}
