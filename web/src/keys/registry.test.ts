import { describe, expect, it, vi } from 'vitest';
import { activeCommands, findCommand, openScope, registerCommands, type Command } from './registry';

const command = (id: string, keys: string[], more: Partial<Command> = {}): Command => ({ id, keys, title: id, group: 'test', run: vi.fn(), ...more });

describe('the registry of keys', () => {
  it('finds single keys and sequences, the latest first', () => {
    const remove = registerCommands([command('next', ['j']), command('inbox', ['g i'])], 0);
    const later = registerCommands([command('other', ['j'])], 0);
    expect(findCommand(['j'], false)).toMatchObject({ kind: 'run', command: { id: 'other' } });
    later();
    expect(findCommand(['j'], false)).toMatchObject({ command: { id: 'next' } });
    expect(findCommand(['g'], false)).toEqual({ kind: 'begun' });
    expect(findCommand(['g', 'i'], false)).toMatchObject({ command: { id: 'inbox' } });
    expect(findCommand(['g', 'x'], false)).toEqual({ kind: 'none' });
    remove();
    expect(activeCommands()).toEqual([]);
  });

  it('leaves letters to a person who types', () => {
    const remove = registerCommands([command('next', ['j']), command('send', ['mod+Enter'], { typing: true })], 0);
    expect(findCommand(['j'], true)).toEqual({ kind: 'none' });
    expect(findCommand(['mod+Enter'], true)).toMatchObject({ command: { id: 'send' } });
    remove();
  });

  it('lets only the dialog act while one is open', () => {
    const page = registerCommands([command('next', ['j'])], 0);
    const close = openScope(1);
    const dialog = registerCommands([command('yes', ['y'])], 1);
    expect(findCommand(['j'], false)).toEqual({ kind: 'none' });
    expect(activeCommands().map((each) => each.id)).toEqual(['yes']);
    dialog();
    close();
    expect(findCommand(['j'], false)).toMatchObject({ kind: 'run' });
    // A key that was pressed while the dialog was open is not for the page, even if the dialog has closed meanwhile.
    expect(findCommand(['j'], false, 1)).toEqual({ kind: 'none' });
    page();
  });
});
