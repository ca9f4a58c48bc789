/** Returns the lines that differ, without the beginning and the end that both texts share. */
export function diffLines(before: string, after: string): string {
  const [was, is] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < was.length && head < is.length && was[head] === is[head]) head++;
  let tail = 0;
  while (tail < was.length - head && tail < is.length - head && was[was.length - 1 - tail] === is[is.length - 1 - tail]) tail++;
  const around = was.slice(Math.max(0, head - 2), head).map((line) => `  ${line}`);
  return [...around, ...was.slice(head, was.length - tail).map((line) => `- ${line}`), ...is.slice(head, is.length - tail).map((line) => `+ ${line}`)].join('\n');
}
