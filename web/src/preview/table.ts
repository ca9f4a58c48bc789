/**
 * Returns the rows of a table that is written as JSON or with tabs, bars or commas, or undefined for any other text.
 */
export function tableOf(text: string): string[][] | undefined {
  const rows = fromJSON(text) ?? fromLines(text);
  if (!rows || rows.length < 2) return undefined;
  const width = Math.max(...rows.map((row) => row.length));
  if (width < 2 && !text.trimStart().startsWith('[')) return undefined;
  return rows.map((row) => [...row, ...Array<string>(width - row.length).fill('')]);
}

const cell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function fromJSON(text: string): string[][] | undefined {
  // JSON.parse would change long numbers and zeros at the end, and the table would show another number.
  if (!/^\s*\[/.test(text) || /\d{16}|\d\.\d*0[,\s}\]]/.test(text)) return undefined;
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list) || list.length === 0) return undefined;
  if (list.every((row): row is unknown[] => Array.isArray(row))) return list.map((row) => row.map(cell));
  if (!list.every((row): row is Record<string, unknown> => typeof row === 'object' && row !== null && !Array.isArray(row))) return undefined;
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))];
  return [names, ...list.map((row) => names.map((name) => (name in row ? cell(row[name]) : '')))];
}

function fromLines(text: string): string[][] | undefined {
  const lines = text.replace(/\r\n/g, '\n').split('\n').filter((line) => line.trim() !== '');
  if (lines.every((line) => line.includes('\t'))) return lines.map((line) => line.split('\t'));
  if (lines.every((line) => line.includes('|'))) {
    const rows = lines.map((line) => line.trim().replace(/^\||\|$/g, '').split('|').map((each) => each.trim()));
    return rows.filter((row) => !row.every((each) => /^:?-+:?$/.test(each)));
  }
  if (lines.every((line) => line.includes(','))) return lines.map(fromCommas);
  return undefined;
}

function fromCommas(line: string): string[] {
  const out: string[] = [];
  for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) out.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
  return out;
}
