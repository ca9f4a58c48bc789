import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createCommand, emptyForm, quote, taskOf } from './command';

/** Returns the words that a shell makes of a command. */
function words(command: string): string[] {
  return execFileSync('sh', ['-c', `fermata() { for word; do printf '%s\\0' "$word"; done; }; ${command}`], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('the command that makes a task', () => {
  it('names what was filled in, and nothing else', () => {
    expect(createCommand(taskOf({ ...emptyForm, title: 'Update the dependencies' }))).toBe("fermata create 'Update the dependencies'");
    expect(words(createCommand(taskOf({ ...emptyForm, title: 'A', project: 'shop', priority: '0', labels: ['two words', 'b'], blockedBy: 'x, y' })))).toEqual([
      'create', '--project=shop', '--blocked-by=x', '--blocked-by=y', '--priority=0', '--label=two words', '--label=b', 'A',
    ]);
  });

  it.each(["it's", '$(rm -rf /)', '`id`', '"quoted"', 'a\\b', '!bang', 'two\nlines', '-v', '--help', '*', '~', 'a;b', 'ü 𝄐', "'"])('carries %j as it is', (title) => {
    expect(words(createCommand({ title, body: title })).at(-1)).toBe(title);
    expect(words(createCommand({ title: 'x', body: title }))).toContain(`--body=${title}`);
  });

  it('does not let a text name a file', () => {
    expect(createCommand({ title: 'x', body: '@/etc/passwd' })).toBe("printf %s @/etc/passwd | fermata create --body=@- x");
  });

  it('quotes only what needs it', () => {
    expect(quote('plain-word_1.0')).toBe('plain-word_1.0');
    expect(quote('')).toBe("''");
  });
});
