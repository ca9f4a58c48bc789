// A JSON Schema describes the settings of a channel kind. The form covers the
// part of JSON Schema that such settings need. A setting beyond that is written
// as JSON.

export interface Property {
  name: string;
  title: string;
  about?: string;
  example?: string;
  required: boolean;
  secret: boolean;
  /** Whether the server sets the value, so that no one types it. */
  fixed: boolean;
  form: 'line' | 'text' | 'secret' | 'number' | 'whole' | 'switch' | 'one' | 'many' | 'json';
  /** The values to choose from. */
  choices?: string[];
  min?: number;
  max?: number;
  longest?: number;
  byDefault?: unknown;
}

type Schema = Record<string, unknown>;

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
const texts = (value: unknown) => (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string') ? value : undefined);

/** Returns the settings in the order of the schema, the required ones first. */
export function propertiesOf(schema: unknown, secrets: readonly string[]): Property[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = texts(schema.required) ?? [];
  const all = Object.entries(schema.properties).map(([name, given]) => property(name, isObject(given) ? given : {}, required.includes(name), secrets.includes(name)));
  return [...all.filter((each) => each.required), ...all.filter((each) => !each.required)];
}

/** Returns the description of the channel kind from its schema. */
export const aboutOf = (schema: unknown) => (isObject(schema) ? text(schema.description) : undefined);

function property(name: string, schema: Schema, required: boolean, secret: boolean): Property {
  const items = isObject(schema.items) ? schema.items : {};
  const choices = texts(schema.enum) ?? texts(items.enum);
  const [example] = Array.isArray(schema.examples) ? (schema.examples as unknown[]) : [];
  const longest = number(schema.maxLength);
  return {
    name, required, secret, choices, longest, fixed: schema.readOnly === true,
    title: text(schema.title) ?? name.replaceAll('_', ' '),
    about: text(schema.description),
    example: example === undefined ? undefined : typeof example === 'string' ? example : Array.isArray(example) ? example.join(', ') : JSON.stringify(example),
    form: formOf(schema, items, secret, choices !== undefined, longest),
    min: number(schema.minimum), max: number(schema.maximum), byDefault: schema.default,
  };
}

const longLine = 1_000;

function formOf(schema: Schema, items: Schema, secret: boolean, chosen: boolean, longest: number | undefined): Property['form'] {
  const type = Array.isArray(schema.type) ? (schema.type as unknown[]).find((each) => each !== 'null') : schema.type;
  switch (type) {
    case 'string':
      if (chosen) return 'one';
      if (secret) return 'secret';
      return schema.format === 'textarea' || (longest ?? 0) > longLine ? 'text' : 'line';
    case 'boolean':
      return 'switch';
    case 'integer':
      return 'whole';
    case 'number':
      return 'number';
    case 'array':
      return items.type === 'string' ? 'many' : 'json';
    default:
      return secret && type === undefined ? 'secret' : 'json';
  }
}

/** The content of a field: a text as it is typed, a list, or yes or no. */
export type Field = string | boolean | string[];

/** Returns a setting as the content of its field. */
export function fieldOf({ form, byDefault }: Property, value: unknown): Field {
  switch (form) {
    case 'switch':
      return value === undefined ? byDefault === true : value === true;
    case 'many':
      return texts(value) ?? [];
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
    case 'secret':
      return '';
    default:
      return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  }
}

/** Returns the setting that a field contains, or undefined if the field is empty or cannot be read. */
export function valueOf({ form }: Property, field: Field): unknown {
  if (typeof field !== 'string') return Array.isArray(field) && field.length === 0 ? undefined : field;
  const typed = form === 'text' || form === 'secret' ? field : field.trim();
  if (typed === '') return undefined;
  switch (form) {
    case 'number':
    case 'whole':
      return Number(typed);
    case 'json':
      try {
        return JSON.parse(typed) as unknown;
      } catch {
        return undefined;
      }
    default:
      return typed;
  }
}

interface Words {
  needed: string;
  tooLong: (most: number) => string;
  notNumber: string;
  notWhole: string;
  atLeast: (n: number) => string;
  atMost: (n: number) => string;
  notJson: string;
}

/** Returns what is wrong with a field, before the server says so. */
export function faultOf(property: Property, field: Field, words: Words): string | undefined {
  const { form, required, min, max, longest } = property;
  const empty = field === '' || (typeof field === 'string' && field.trim() === '') || (Array.isArray(field) && field.length === 0);
  if (empty) return required ? words.needed : undefined;
  const value = valueOf(property, field);
  if (form === 'json' && value === undefined) return words.notJson;
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return words.notNumber;
    if (form === 'whole' && !Number.isInteger(value)) return words.notWhole;
    if (min !== undefined && value < min) return words.atLeast(min);
    if (max !== undefined && value > max) return words.atMost(max);
  }
  if (typeof value === 'string' && longest !== undefined && [...value].length > longest) return words.tooLong(longest);
  return undefined;
}

/**
 * Returns the change from the stored settings to those in the fields. Null
 * removes a setting. A secret whose field is empty stays as it is, unless it is
 * dropped.
 */
export function changeOf(properties: readonly Property[], stored: Record<string, unknown>, fields: Record<string, Field>, dropped: readonly string[] = []): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  for (const property of properties) {
    const { name, form, byDefault } = property;
    const value = valueOf(property, fields[name] ?? '');
    if (property.secret) {
      if (value !== undefined) change[name] = value;
      else if (dropped.includes(name)) change[name] = null;
      continue;
    }
    if (form === 'switch' && stored[name] === undefined && value === (byDefault === true)) continue;
    if (JSON.stringify(value) === JSON.stringify(stored[name])) continue;
    change[name] = value === undefined ? null : value;
  }
  return change;
}

/**
 * Writes a description from a schema as a sentence. A beginning that is not a
 * word, such as a prefix or a path, stays as it is typed.
 */
export const sentence = (words: string) => (/^[a-z]+[ ,]/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words) + (/[.!?…:]$/.test(words) ? '' : '.');
