/** The part of JSON Schema that completion needs. */
export interface JSONSchema {
  $ref?: string;
  $defs?: Record<string, JSONSchema>;
  properties?: Record<string, JSONSchema>;
  additionalProperties?: JSONSchema | boolean;
  items?: JSONSchema;
  anyOf?: readonly JSONSchema[];
  enum?: readonly unknown[];
  const?: unknown;
  type?: string | readonly string[];
  description?: string;
  'x-names'?: Names;
}

/** The names that the server gives in the schema for expressions and for scripts of tests. */
export interface Names {
  run?: readonly string[];
  step?: readonly string[];
  /** The names below the error of a step. */
  error?: readonly string[];
  failure?: readonly string[];
  /** The keys of the script for a test, and those below `expect`. */
  script?: readonly string[];
  expect?: readonly string[];
}

/**
 * Returns the schema behind a reference, and its alternatives. Keywords beside the reference override those behind it.
 */
function resolve(root: JSONSchema, schema: JSONSchema): JSONSchema[] {
  const name = /^#\/\$defs\/(\w+)$/.exec(schema.$ref ?? '')?.[1];
  const target = name === undefined ? undefined : root.$defs?.[name];
  const { $ref: _, ...own } = schema;
  const whole = target ? { ...target, ...own } : own;
  return [whole, ...(whole.anyOf ?? []).flatMap((each) => resolve(root, each))];
}

/** Returns the schemas of the value at a path. `[]` is an entry of a list. */
export function schemasAt(root: JSONSchema, path: readonly string[]): JSONSchema[] {
  return path.reduce<JSONSchema[]>(
    (found, key) => found.flatMap((each) => {
      const more = each.additionalProperties;
      const next = key === '[]' ? each.items : each.properties?.[key] ?? (typeof more === 'object' ? more : undefined);
      return next ? resolve(root, next) : [];
    }),
    resolve(root, root),
  );
}

/** Returns the description of a schema. */
export const descriptionOf = (root: JSONSchema, schema: JSONSchema): string | undefined => resolve(root, schema)[0]?.description;

/** Returns the values that a schema names. */
export function valuesIn(schema: JSONSchema): string[] {
  const named = [...(schema.enum ?? []), ...(schema.const === undefined ? [] : [schema.const]), ...(schema.type === 'boolean' ? [true, false] : [])];
  return named.filter((each) => typeof each === 'string' || typeof each === 'boolean').map(String);
}
