import { diffLines } from 'diff';
import type { RootContent } from 'hast';
import { common, createLowlight } from 'lowlight';
import { markedParts } from '@/text/visible';

/** A part of a line that has one colour. Only a text without marked characters has one. */
export interface Token {
  text: string;
  role?: Role;
}

export interface Line {
  /** Whether a change adds the line, takes it away, or keeps it. */
  sign?: '+' | '-' | ' ';
  tokens: Token[];
}

type Role = 'keyword' | 'string' | 'number' | 'name' | 'comment';

/** The role of each scope. All other scopes have the colour of the text. */
const roles: Record<string, Role> = {
  keyword: 'keyword', built_in: 'keyword', type: 'keyword', literal: 'number', number: 'number', string: 'string', regexp: 'string', symbol: 'string',
  comment: 'comment', doctag: 'comment', title: 'name', attr: 'name', attribute: 'name', section: 'name', name: 'name', 'selector-class': 'name', 'selector-tag': 'name', property: 'name',
};

/** Longer texts have no colours, because a page must answer at once. */
const longestText = 100_000;
const longestLine = 4_000;
/** A change with more changed lines shows all of the text before and all of the text after. */
const mostChanges = 2_000;

const languages = createLowlight(common);

/** Returns the language of a file, or undefined if it has no colours. */
function languageOf(path: string): string | undefined {
  const name = path.split(/[\\/]/).at(-1)?.toLowerCase() ?? '';
  return [name, name.split('.').at(-1) ?? ''].find((each) => each !== '' && languages.registered(each));
}

/** Returns the lines of a text with their colours, or undefined for one that is too long. */
export function linesOf(text: string, path: string): Line[] | undefined {
  const lines = splitLines(text);
  if (text.length > longestText || lines.some((line) => line.length > longestLine)) return undefined;
  const language = languageOf(path);
  const colours = language === undefined ? [] : colouredLines(text, language);
  return lines.map((line, at) => ({ tokens: tokensOf(line, colours[at]) }));
}

/** Returns the lines of both texts, each with its sign. */
export function changedLines(before: string, after: string, path: string): Line[] {
  const colours = { was: linesOf(before, path), is: linesOf(after, path) };
  const changes = diffLines(before, after, { maxEditLength: mostChanges }) ?? [{ value: before, removed: true, added: false }, { value: after, added: true, removed: false }];
  const at = { was: 0, is: 0 };
  return changes.flatMap(({ value, added, removed }) => splitLines(value).map((text): Line => {
    const tokens = (removed ? colours.was?.[at.was] : colours.is?.[at.is])?.tokens ?? [{ text }];
    if (!added) at.was++;
    if (!removed) at.is++;
    return { sign: added ? '+' : removed ? '-' : ' ', tokens };
  }));
}

/** Splits a text into lines. A line break at the end begins no further line. */
function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Returns the tokens of a line. If a character of it is marked, the line has no colours, so that the mark is judged by whole words. */
function tokensOf(line: string, coloured: Token[] | undefined): Token[] {
  const isWhole = coloured?.map(({ text }) => text).join('') === line;
  return isWhole && markedParts(line, true).every(({ mark }) => mark === undefined) ? coloured : [{ text: line }];
}

function colouredLines(text: string, language: string): Token[][] {
  const lines: Token[][] = [[]];
  const visit = (nodes: RootContent[], role?: Role) => {
    for (const node of nodes) {
      if (node.type === 'element') visit(node.children, roleOf(node.properties.className) ?? role);
      if (node.type !== 'text') continue;
      node.value.split('\n').forEach((part, at) => {
        if (at > 0) lines.push([]);
        if (part !== '') lines.at(-1)?.push({ text: part, role });
      });
    }
  };
  visit(languages.highlight(language, text).children);
  return lines;
}

function roleOf(names: unknown): Role | undefined {
  const [name] = Array.isArray(names) ? (names as unknown[]) : [];
  return typeof name === 'string' ? roles[name.replace(/^hljs-/, '')] : undefined;
}
