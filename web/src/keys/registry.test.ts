import { describe, expect, it, vi } from 'vitest';
import { commands, find, openScope, register, type Command } from './registry';

const command = (id: string, keys: string[], more: Partial<Command> = {}): Command => ({ id, keys, title: id, group: 'test', run: vi.fn(), ...more });

describe('the registry of keys', () => {
  it('finds single keys and sequences, the latest first', () => {
    const remove = register([command('next', ['j']), command('inbox', ['g i'])], 0);
    const later = register([command('other', ['j'])], 0);
    expect(find(['j'], false)).toMatchObject({ kind: 'run', command: { id: 'other' } });
    later();
    expect(find(['j'], false)).toMatchObject({ command: { id: 'next' } });
    expect(find(['g'], false)).toEqual({ kind: 'begun' });
    expect(find(['g', 'i'], false)).toMatchObject({ command: { id: 'inbox' } });
    expect(find(['g', 'x'], false)).toEqual({ kind: 'none' });
    remove();
    expect(commands()).toEqual([]);
  });

  it('leaves letters to whoever types', () => {
    const remove = register([command('next', ['j']), command('send', ['mod+Enter'], { typing: true })], 0);
    expect(find(['j'], true)).toEqual({ kind: 'none' });
    expect(find(['mod+Enter'], true)).toMatchObject({ command: { id: 'send' } });
    remove();
  });

  it('lets only the dialog act while one is open', () => {
    const page = register([command('next', ['j'])], 0);
    const close = openScope(1);
    const dialog = register([command('yes', ['y'])], 1);
    expect(find(['j'], false)).toEqual({ kind: 'none' });
    expect(commands().map((each) => each.id)).toEqual(['yes']);
    dialog();
    close();
    expect(find(['j'], false)).toMatchObject({ kind: 'run' });
    page();
  });
});
