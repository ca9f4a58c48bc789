const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isLines = (value: unknown): value is string => typeof value === 'string' && value.trimEnd().includes('\n');

/**
 * Splits a value for reading. A text of several lines, such as the output of a command or the words of an agent, is
 * shown as text. The rest is shown as JSON.
 */
export function partsOf(value: unknown): { name: string; text: string }[] {
  if (typeof value === 'string') return [{ name: '', text: value }];
  const entries = isPlain(value) ? Object.entries(value) : [];
  const texts = entries.flatMap(([name, text]) => (isLines(text) ? [{ name, text }] : []));
  const rest = entries.filter(([, each]) => !isLines(each));
  if (texts.length === 0) return [{ name: '', text: JSON.stringify(value, null, 2) }];
  return [...(rest.length > 0 ? [{ name: '', text: JSON.stringify(Object.fromEntries(rest), null, 2) }] : []), ...texts];
}
