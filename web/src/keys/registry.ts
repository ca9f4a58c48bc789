// One registry knows every command: the keys, the sheet behind `?` and the
// command palette are made from it.

export interface Command {
  id: string;
  title: string;
  /** Where it stands in the sheet. */
  group: string;
  /** "j", "g i" (one after the other), "mod+Enter", "Escape"; each does it. */
  keys?: string[];
  run: () => void;
  /** Acts while somebody types, too. */
  typing?: boolean;
  /** Stays out of the palette and the sheet, where many commands would say the same. */
  hidden?: boolean;
}

interface Entry {
  command: Command;
  level: number;
  order: number;
}

const entries = new Set<Entry>();
const scopes = new Map<number, number>();
const listeners = new Set<() => void>();
let order = 0;
let snapshot: Command[] = [];

function changed() {
  snapshot = visible();
  listeners.forEach((listener) => listener());
}

/** Adds commands until the returned function is called. Later ones win. */
export function register(commands: Command[], level: number): () => void {
  const added = commands.map((command) => ({ command, level, order: order++ }));
  added.forEach((entry) => entries.add(entry));
  changed();
  return () => {
    added.forEach((entry) => entries.delete(entry));
    changed();
  };
}

/** While a scope is open, the commands below it rest: a dialog over a page. */
export function openScope(level: number): () => void {
  scopes.set(level, (scopes.get(level) ?? 0) + 1);
  changed();
  return () => {
    const left = (scopes.get(level) ?? 1) - 1;
    if (left > 0) scopes.set(level, left);
    else scopes.delete(level);
    changed();
  };
}

const topLevel = () => Math.max(0, ...scopes.keys());

function awake(): Entry[] {
  const level = topLevel();
  return [...entries].filter((entry) => entry.level >= level).sort((a, b) => b.order - a.order);
}

function visible(): Command[] {
  const seen = new Set<string>();
  const list = awake().filter(({ command }) => {
    if (command.hidden || seen.has(command.id)) return false;
    seen.add(command.id);
    return true;
  });
  return list.sort((a, b) => a.order - b.order).map((entry) => entry.command);
}

/** The commands that act now, for the sheet and the palette. */
export const commands = () => snapshot;
export function onCommands(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export type Found = { kind: 'run'; command: Command } | { kind: 'begun' } | { kind: 'none' };

/** Looks up what a key does after those that were pressed before it. */
export function find(pressed: string[], typing: boolean): Found {
  const sequence = pressed.join(' ');
  const list = awake().filter(({ command }) => !typing || command.typing);
  const exact = list.find(({ command }) => command.keys?.includes(sequence));
  if (exact) return { kind: 'run', command: exact.command };
  const begun = list.some(({ command }) => command.keys?.some((key) => key.startsWith(`${sequence} `)));
  return begun ? { kind: 'begun' } : { kind: 'none' };
}

/** The name of a key as the registry writes it. */
export function nameOf(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? 'mod+' : '';
  const alt = event.altKey ? 'alt+' : '';
  const named = event.key.length > 1;
  const shift = event.shiftKey && (named || mod !== '') ? 'shift+' : '';
  const key = event.key === ' ' ? 'Space' : named ? event.key : mod ? event.key.toLowerCase() : event.key;
  return `${mod}${alt}${shift}${key}`;
}
