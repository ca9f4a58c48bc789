import { signal } from '@/api/signal';

// This registry has every command of the page. The key presses, the sheet
// behind `?` and the command palette use it.

export interface Command {
  id: string;
  title: string;
  /** The heading above the command in the sheet. */
  group: string;
  /** "j", "g i" (one after the other), "mod+Enter", "Escape". Each of them runs the command. */
  keys?: string[];
  run: () => void;
  /** Whether the keys also work while the reader types. */
  typing?: boolean;
  /** Whether the palette and the sheet leave the command out, because many commands would read the same there. */
  hidden?: boolean;
}

interface Entry {
  command: Command;
  level: number;
  order: number;
}

const entries = new Set<Entry>();
const scopes = new Map<number, number>();
const changes = signal();
let order = 0;
let snapshot: Command[] = [];

function updateSnapshot() {
  snapshot = visibleCommands();
  changes.notify();
}

/** Adds commands. The returned function removes them. If two commands have the same key, the later one wins. */
export function registerCommands(commands: Command[], level: number): () => void {
  const added = commands.map((command) => ({ command, level, order: order++ }));
  added.forEach((entry) => entries.add(entry));
  updateSnapshot();
  return () => {
    added.forEach((entry) => entries.delete(entry));
    updateSnapshot();
  };
}

/** Suspends the commands below a level until the returned function is called. A dialog suspends those of its page. */
export function openScope(level: number): () => void {
  scopes.set(level, (scopes.get(level) ?? 0) + 1);
  updateSnapshot();
  return () => {
    const remaining = (scopes.get(level) ?? 1) - 1;
    if (remaining > 0) scopes.set(level, remaining);
    else scopes.delete(level);
    updateSnapshot();
  };
}

/** Returns the level of the dialog on top, or 0 if no dialog is open. */
export const topLevel = () => Math.max(0, ...scopes.keys());

function activeEntries(level = topLevel()): Entry[] {
  return [...entries].filter((entry) => entry.level >= level).sort((a, b) => b.order - a.order);
}

function visibleCommands(): Command[] {
  const seen = new Set<string>();
  const list = activeEntries().filter(({ command }) => {
    if (command.hidden || seen.has(command.id)) return false;
    seen.add(command.id);
    return true;
  });
  return list.sort((a, b) => a.order - b.order).map((entry) => entry.command);
}

/** Returns the active commands, for the sheet and the palette. */
export const activeCommands = () => snapshot;
export const onCommands = changes.subscribe;

export type Match = { kind: 'run'; command: Command } | { kind: 'begun' } | { kind: 'none' };

/** Finds the command for the keys that were pressed one after the other. Commands below the level do not count. */
export function findCommand(pressed: string[], typing: boolean, level = topLevel()): Match {
  const sequence = pressed.join(' ');
  const list = activeEntries(level).filter(({ command }) => !typing || command.typing);
  const exact = list.find(({ command }) => command.keys?.includes(sequence));
  if (exact) return { kind: 'run', command: exact.command };
  const begun = list.some(({ command }) => command.keys?.some((key) => key.startsWith(`${sequence} `)));
  return begun ? { kind: 'begun' } : { kind: 'none' };
}

/** Returns the name of a key as the registry writes it. */
export function keyName(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? 'mod+' : '';
  const alt = event.altKey ? 'alt+' : '';
  const named = event.key.length > 1;
  const shift = event.shiftKey && (named || mod !== '') ? 'shift+' : '';
  const key = event.key === ' ' ? 'Space' : named ? event.key : mod ? event.key.toLowerCase() : event.key;
  return `${mod}${alt}${shift}${key}`;
}
