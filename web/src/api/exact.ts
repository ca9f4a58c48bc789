// An approval covers the exact bytes of an action. Parsing JSON loses them: 1.0
// becomes 1, long numbers lose digits, keys change their order. So the exact
// text of every action is kept beside its value, as it was in the reply.

/** Adds "action_text", the exact text of "action", to every object that also has "action_hash". */
export function addActionTexts(reply: string): string {
  if (!reply.includes('"action_hash"')) return reply;
  const added: { at: number; text: string }[] = [];
  walk(reply, skipSpace(reply, 0), added);
  let out = '';
  let from = 0;
  for (const { at, text } of added.sort((a, b) => a.at - b.at)) {
    out += `${reply.slice(from, at)},"action_text":${JSON.stringify(text)}`;
    from = at;
  }
  return out + reply.slice(from);
}

/** Reports whether a text is a JSON document. */
export function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Walks the value that begins at `at`, adds the texts of its actions to `added`, and returns the index after the value.
 */
function walk(s: string, at: number, added: { at: number; text: string }[]): number {
  switch (s[at]) {
    case '{':
      return walkObject(s, at, added);
    case '[': {
      let i = skipSpace(s, at + 1);
      while (s[i] !== ']') {
        i = skipSpace(s, walk(s, i, added));
        if (s[i] === ',') i = skipSpace(s, i + 1);
        else if (s[i] !== ']') return s.length;
      }
      return i + 1;
    }
    case '"':
      return endOfString(s, at);
    default: {
      let i = at;
      while (i < s.length && !',]} \n\r\t'.includes(s.charAt(i))) i++;
      return i;
    }
  }
}

function walkObject(s: string, at: number, added: { at: number; text: string }[]): number {
  let action: { at: number; text: string } | undefined;
  let hashed = false;
  let i = skipSpace(s, at + 1);
  while (s[i] === '"') {
    const name = s.slice(i, endOfString(s, i));
    const value = skipSpace(s, skipSpace(s, i + name.length) + 1);
    // The content of an action comes from the agent: an "action" within it is not one of Fermata's.
    const end = walk(s, value, name === '"action"' ? [] : added);
    if (name === '"action"') action = { at: end, text: s.slice(value, end) };
    if (name === '"action_hash"') hashed = true;
    i = skipSpace(s, end);
    if (s[i] === ',') i = skipSpace(s, i + 1);
  }
  if (action && hashed) added.push(action);
  return i + 1;
}

function endOfString(s: string, at: number): number {
  for (let i = at + 1; i < s.length; i++) {
    if (s[i] === '\\') i++;
    else if (s[i] === '"') return i + 1;
  }
  return s.length;
}

function skipSpace(s: string, at: number): number {
  while (at < s.length && ' \n\r\t'.includes(s.charAt(at))) at++;
  return at;
}

/** Returns the SHA-256 of a text in hex, or undefined if the browser has no crypto.subtle. */
export async function hashOf(text: string): Promise<string | undefined> {
  const subtle = (crypto as Partial<Crypto>).subtle;
  if (!subtle) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Returns an action in the form that the server hashes: without spaces between
 * the parts, and with <, > and & unescaped.
 */
export function canonicalJSON(json: string): string {
  let out = '';
  for (let i = 0; i < json.length; ) {
    if (json[i] === '"') {
      const end = endOfString(json, i);
      out += json.slice(i, end);
      i = end;
    } else {
      if (!' \n\r\t'.includes(json.charAt(i))) out += json.charAt(i);
      i++;
    }
  }
  return out.replace(/\\(?:u00(3c|3e|26)|[^])/gi, (escape, sign?: string) => (sign ? String.fromCharCode(parseInt(sign, 16)) : escape));
}

const commandNames = ['command', 'cmd'];
const argumentNames = ['input', 'arguments'];

/**
 * Returns the command of an action as it was typed, and every other field on a
 * line of its own. Returns undefined if the action does not have exactly one
 * command. The server shows actions in the same way in the terminal and in
 * messages.
 */
export function commandOf(action: string): { command: string; rest: string } | undefined {
  const json = canonicalJSON(action);
  if (!isJSON(json)) return undefined;
  if (json.startsWith('"')) return json === '""' ? undefined : { command: JSON.parse(json) as string, rest: '' };
  const commands: string[] = [];
  const rest: string[] = [];
  for (const { name, value, line } of fieldsOfAction(json)) {
    const command = commandNames.includes(name) ? lineOf(JSON.parse(value)) : undefined;
    if (command === undefined) rest.push(line);
    else commands.push(command);
  }
  const [command] = commands;
  return command !== undefined && commands.length === 1 ? { command, rest: rest.join('\n') } : undefined;
}

/** A field of an action, or of the object that holds its arguments. */
export interface ActionField {
  name: string;
  /** The value as it is written in JSON. */
  value: string;
  /** The field with the object that it is in, as it is written in JSON. */
  line: string;
  /** The name of the object with the arguments, if the field is in one. */
  within?: string;
}

/** Returns the fields of an action in their order. The JSON must be canonical. */
export function fieldsOfAction(json: string): ActionField[] {
  return fieldsOf(json).flatMap((field): ActionField[] => {
    const own = { name: JSON.parse(field.name) as string, value: field.value, line: `${field.name}: ${field.value}` };
    const inner = argumentNames.includes(own.name) && field.value.startsWith('{') ? fieldsOf(field.value) : [];
    if (inner.length === 0) return [own];
    return inner.map(({ name, value }) => ({ name: JSON.parse(name) as string, value, line: `${field.name}: {${name}: ${value}}`, within: own.name }));
  });
}

interface Field { name: string; value: string }

/** Returns the fields of an object as they are written, also those with the same name. The JSON must have no spaces between its parts. */
export function fieldsOf(json: string): Field[] {
  const fields: Field[] = [];
  if (!json.startsWith('{')) return fields;
  for (let at = 1; json[at] === '"'; ) {
    const colon = endOfString(json, at);
    const end = walk(json, colon + 1, []);
    fields.push({ name: json.slice(at, colon), value: json.slice(colon + 1, end) });
    at = end + 1;
  }
  return fields;
}

/** Returns the elements of a list as they are written. The JSON must have no spaces between its parts. */
export function elementsOf(json: string): string[] {
  const elements: string[] = [];
  for (let at = 1; at < json.length - 1; ) {
    const end = walk(json, at, []);
    elements.push(json.slice(at, end));
    at = end + 1;
  }
  return elements;
}

/** Returns a value as a command line. A list of words is quoted as for a shell. */
function lineOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value || undefined;
  if (!Array.isArray(value) || value.length === 0 || value.some((word) => typeof word !== 'string')) return undefined;
  if (value.length === 1 && value[0] === '') return undefined;
  return (value as string[]).map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** Breaks JSON into indented lines. Every number, key and escape stays as it was. */
export function indentJSON(json: string): string {
  let out = '';
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  for (let i = 0; i < json.length; ) {
    const sign = json.charAt(i);
    if (sign === '"') {
      const end = endOfString(json, i);
      out += json.slice(i, end);
      i = end;
      continue;
    }
    const next = json.charAt(skipSpace(json, i + 1));
    if (sign === '{' || sign === '[') {
      const empty = next === '}' || next === ']';
      depth += empty ? 0 : 1;
      out += empty ? sign + next : sign + line();
      i = empty ? skipSpace(json, i + 1) + 1 : i + 1;
      continue;
    }
    if (sign === '}' || sign === ']') {
      depth--;
      out += line() + sign;
    } else if (sign === ',') out += sign + line();
    else if (sign === ':') out += ': ';
    else if (!' \n\r\t'.includes(sign)) out += sign;
    i++;
  }
  return out;
}
