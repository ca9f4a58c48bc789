import { canonicalJSON, commandOf, elementsOf, fieldsOf, fieldsOfAction, indentJSON, isJSON, type ActionField } from '@/api/exact';

/** A change of a text. */
interface Change {
  before: string;
  after: string;
  /** Whether every place is changed that has the text. */
  everywhere?: boolean;
}

/** What an action does, if its fields tell. */
export type Shape =
  | { kind: 'command'; command: string }
  | { kind: 'write'; path: string; content: string }
  | { kind: 'edit'; path: string; changes: Change[] }
  | { kind: 'patch'; patch: string }
  | { kind: 'message'; to: string; subject?: string; body: string }
  | { kind: 'table'; name: string; rows: string[][] }
  | { kind: 'call'; tool?: string; json: string };

/** An action as people read it. */
export interface ReadableAction {
  shape: Shape;
  /** The tool that is called, unless the shape is a command. */
  tool?: string;
  /** Every field that the shape does not show, each on a line of its own. */
  rest: string;
}

// The names that the tools of agents give these fields.
const names = {
  tool: ['tool', 'tool_name'],
  path: ['file_path', 'filePath', 'path', 'filename', 'notebook_path'],
  content: ['content', 'contents', 'file_text', 'new_source'],
  before: ['old_string', 'oldString', 'old_str', 'oldText'],
  after: ['new_string', 'newString', 'new_str', 'newText'],
  everywhere: ['replace_all', 'replaceAll'],
  edits: ['edits'],
  patch: ['patch', 'diff', 'patchText', 'patch_text'],
  to: ['to', 'recipient', 'recipients', 'channel', 'chat_id'],
  subject: ['subject'],
  body: ['body', 'text', 'message', 'content', 'html'],
};
type Part = keyof typeof names;

/** What an action may have besides what its shape shows. Anything else could change what its tool does. */
const besides = ['tool', 'tool_name', 'dir', 'cwd', 'workdir', 'dir_path', 'description', 'id', 'call_id', 'encoding', 'cc', 'bcc', 'from', 'reply_to'];

/**
 * Returns what an action does and the fields that are left. Between them, they show every field. An action is shown as JSON if two
 * of its fields could have the same meaning, or if a field could change what it does, because only its tool knows which one counts.
 */
export function readableOf(action: string): ReadableAction {
  const found = commandOf(action);
  if (found) return { shape: { kind: 'command', command: found.command }, rest: found.rest };
  const json = canonicalJSON(action);
  const fields = isJSON(json) ? fieldsOfAction(json) : [];
  const tool = new Fields(fields, new Set()).line('tool');
  for (const shapeOf of [editOf, writeOf, patchOf, messageOf, tableOfField]) {
    const taken = new Set<ActionField>();
    const shape = shapeOf(new Fields(fields, taken));
    const rest = fields.filter((field) => !taken.has(field));
    const tells = shape?.kind === 'table' || (new Set([...taken].map(({ within }) => within)).size === 1 && rest.every(({ name }) => besides.includes(name)));
    if (shape && tells) return { shape, tool, rest: rest.map(({ line }) => line).join('\n') };
  }
  return { shape: { kind: 'call', tool, json: indentJSON(action) }, tool, rest: '' };
}

/** The fields of an action. It notes those that a shape shows. */
class Fields {
  constructor(readonly all: ActionField[], private readonly taken: Set<ActionField>) {}

  /** Returns the value of the only field with one of the names of a part. */
  value(part: Part): unknown {
    const found = this.all.filter((field) => names[part].includes(field.name));
    const [field] = found;
    if (!field || found.length > 1) return undefined;
    this.taken.add(field);
    return JSON.parse(field.value);
  }

  text(part: Part): string | undefined {
    const value = this.value(part);
    return typeof value === 'string' ? value : undefined;
  }

  /** Returns a text that is shown on one line. With a line break in it, it could look like more than one. */
  line(part: Part): string | undefined {
    const text = this.text(part);
    return text === undefined || /[\n\r]/.test(text) ? undefined : text;
  }

  take(field: ActionField) {
    this.taken.add(field);
  }
}

function editOf(fields: Fields): Shape | undefined {
  const path = fields.line('path');
  if (!path) return undefined;
  const change = changeOf(fields);
  if (change) return fields.all.some(({ name }) => names.edits.includes(name)) ? undefined : { kind: 'edit', path, changes: [change] };
  const field = fields.all.find(({ name, value }) => names.edits.includes(name) && value.startsWith('['));
  if (!field || fields.value('edits') === undefined) return undefined;
  const changes = elementsOf(field.value).map((element) => {
    const inner = element.startsWith('{') ? fieldsOf(element).map(({ name, value }) => ({ name: JSON.parse(name) as string, value, line: '' })) : [];
    const taken = new Set<ActionField>();
    const each = changeOf(new Fields(inner, taken));
    // An edit with further fields would lose them here.
    return taken.size === inner.length ? each : undefined;
  });
  return changes.length > 0 && changes.every((each) => each !== undefined) ? { kind: 'edit', path, changes } : undefined;
}

function changeOf(fields: Fields): Change | undefined {
  const [before, after, everywhere] = [fields.text('before'), fields.text('after'), fields.value('everywhere')];
  if (before === undefined || after === undefined || ![undefined, true, false].includes(everywhere as boolean | undefined)) return undefined;
  return everywhere === true ? { before, after, everywhere } : { before, after };
}

function writeOf(fields: Fields): Shape | undefined {
  const [path, content] = [fields.line('path'), fields.text('content')];
  return path && content !== undefined ? { kind: 'write', path, content } : undefined;
}

function patchOf(fields: Fields): Shape | undefined {
  const patch = fields.text('patch');
  return patch ? { kind: 'patch', patch } : undefined;
}

function messageOf(fields: Fields): Shape | undefined {
  const to = fields.value('to');
  const people = typeof to === 'string' ? [to] : Array.isArray(to) && to.every((each) => typeof each === 'string') ? to : [];
  const body = fields.text('body');
  if (people.length === 0 || !body || people.some((each) => /[\n\r]/.test(each))) return undefined;
  const hasSubject = fields.all.some(({ name }) => names.subject.includes(name));
  const subject = fields.line('subject');
  return hasSubject && subject === undefined ? undefined : { kind: 'message', to: people.join(', '), subject, body };
}

/** Returns the table that the only list of objects makes. */
function tableOfField(fields: Fields): Shape | undefined {
  const lists = fields.all.filter(({ value }) => value.startsWith('[{'));
  const [list] = lists;
  if (!list || lists.length > 1) return undefined;
  const rows = elementsOf(list.value).map((element) => (element.startsWith('{') ? fieldsOf(element) : []));
  const columns = [...new Set(rows.flatMap((row) => row.map(({ name }) => name)))];
  const isFlat = rows.every((row) => row.length > 0 && new Set(row.map(({ name }) => name)).size === row.length && row.every(({ value }) => !/^[[{]/.test(value)));
  if (rows.length < 2 || columns.length > 12 || !isFlat) return undefined;
  fields.take(list);
  const cell = (row: { name: string; value: string }[], column: string) => shown(row.find(({ name }) => name === column)?.value ?? '');
  return { kind: 'table', name: list.name, rows: [columns.map(shown), ...rows.map((row) => columns.map((column) => cell(row, column)))] };
}

/** Returns a value as it is read: a text without its quotes, a number with all its digits. */
const shown = (value: string): string => (value.startsWith('"') ? (JSON.parse(value) as string) : value);

/** Returns what an action is about: the first line of its command, a path, the people who get a message, or its tool. */
export function subjectOf(shape: Shape): string | undefined {
  switch (shape.kind) {
    case 'command': {
      const [first = ''] = shape.command.trimStart().split('\n', 1);
      return first;
    }
    case 'write':
    case 'edit':
      return shape.path;
    case 'message':
      return shape.to;
    case 'call':
      return shape.tool;
    case 'table':
      return shape.name;
    case 'patch':
      return '';
  }
}

/** Returns the texts that people read of an action. */
export function textsOf(shape: Shape): string[] {
  switch (shape.kind) {
    case 'command':
      return [shape.command];
    case 'write':
      return [shape.path, shape.content];
    case 'edit':
      return [shape.path, ...shape.changes.flatMap(({ before, after }) => [before, after])];
    case 'patch':
      return [shape.patch];
    case 'message':
      return [shape.to, shape.subject ?? '', shape.body];
    case 'table':
      return shape.rows.flat();
    case 'call':
      return [shape.json, ...longTextsOf(shape.json).map(({ text }) => text)];
  }
}

/** Returns the texts in a JSON value that have a line break, a quote or a backslash, each without the escapes of JSON. */
export function longTextsOf(json: string): { path: string; text: string }[] {
  const long: { path: string; text: string }[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'string' && /[\n"\\]/.test(value)) long.push({ path: path ? `$.${path}` : '$', text: value });
    else if (Array.isArray(value)) value.forEach((each, at) => visit(each, `${path}[${at}]`));
    else if (typeof value === 'object' && value !== null) for (const [name, each] of Object.entries(value)) visit(each, path ? `${path}.${name}` : name);
  };
  // An action that is not JSON is shown as its bytes alone.
  if (isJSON(json)) visit(JSON.parse(json), '');
  return long;
}
