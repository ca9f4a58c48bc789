/** The place of a cursor in a definition. */
export interface Cursor {
  /** The keys from the top of the file to the cursor. `[]` is an entry of a list. */
  path: readonly string[];
  /** The key whose value is being written. Without it, a key is being written. */
  key?: string;
  /** The part of the word that was typed so far. */
  typed: string;
}

interface Line {
  /** The columns of the dashes before the text. `column` is the column of the text itself. */
  dashes: readonly number[];
  column: number;
  text: string;
}

function readLine(line: string): Line {
  const dashes: number[] = [];
  let column = /^ */.exec(line)?.[0].length ?? 0;
  for (let dash = /^-( +|$)/.exec(line.slice(column)); dash; dash = /^-( +|$)/.exec(line.slice(column))) {
    dashes.push(column);
    column += dash[0].length;
  }
  return { dashes, column, text: line.slice(column) };
}

const keyOf = (text: string) => /^([\w-]+):(\s|$)/.exec(text)?.[1];

/** Returns the keys that lead to a line, from the lines above it. */
function pathTo(line: Line, above: readonly string[]): string[] {
  const path: string[] = [];
  let { column } = line;
  let inList = false;
  const enter = (dashes: readonly number[]) => {
    for (const dash of [...dashes].reverse()) {
      if (dash >= column) continue;
      path.unshift('[]');
      column = dash;
      inList = true;
    }
    return inList;
  };
  inList = enter(line.dashes);
  for (const each of [...above].reverse()) {
    const { dashes, column: at, text } = readLine(each);
    if (text === '' || text.startsWith('#')) continue;
    const key = keyOf(text);
    const isParent = at < column || (inList && at === column && dashes.length === 0);
    if (key && isParent) {
      path.unshift(key);
      column = at;
      inList = false;
    }
    inList = enter(dashes);
  }
  return path;
}

/**
 * Returns the keys of the braces and brackets that are still open at the end of a line, and the text behind the last of
 * them.
 */
function openBrackets(text: string): { path: string[]; rest: string } | undefined {
  const open: { sign: string; key: string }[] = [];
  let rest = '';
  let quote = '';
  for (const char of text) {
    if (quote) {
      if (char === quote) quote = '';
      rest += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      rest += char;
    } else if (char === '{' || char === '[') {
      open.push({ sign: char, key: keyOf(`${rest.trim()} `) ?? '' });
      rest = '';
    } else if (char === '}' || char === ']') {
      open.pop();
      rest = '';
    } else if (char === ',') {
      rest = '';
    } else {
      rest += char;
    }
  }
  if (open.length === 0 || quote) return undefined;
  return { path: open.flatMap(({ sign, key }) => [...(key ? [key] : []), ...(sign === '[' ? ['[]'] : [])]), rest: rest.trimStart() };
}

/** Returns the cursor at the end of a text, or undefined if no word of a definition can be there. */
export function cursorAt(before: string): Cursor | undefined {
  const lines = before.split('\n');
  const line = readLine(lines.pop() ?? '');
  const path = pathTo(line, lines);
  const flow = openBrackets(line.text);
  const text = flow?.rest ?? line.text;
  const at = [...path, ...(flow?.path ?? [])];
  const pair = /^([\w-]+):\s+(\S*)$/.exec(text);
  if (pair) return { path: at, key: pair[1], typed: pair[2] ?? '' };
  return /^[\w.-]*$/.test(text) ? { path: at, typed: text } : undefined;
}
