import { createContext, useContext, useEffect, useRef, type ReactNode } from 'react';
import { openScope, registerCommands, type Command } from './registry';

const Level = createContext(0);

/** Suspends all commands outside of this element while it is rendered. Dialogs use it. */
export function KeyScope({ children }: { children: ReactNode }) {
  const level = useContext(Level) + 1;
  useEffect(() => openScope(level), [level]);
  return <Level value={level}>{children}</Level>;
}

const Active = createContext(true);

/**
 * Activates the commands of its children only while `on` is true. Use it for a part of a page whose keys need the
 * focus.
 */
export function KeysWhile({ on, children }: { on: boolean; children: ReactNode }) {
  return <Active value={on}>{children}</Active>;
}

/** Reports whether the keys of this part of the page work. */
export const useKeysAwake = () => useContext(Active);

/**
 * Registers commands while the component is rendered. Their functions may
 * change with every render. Only ids, titles, groups and keys are compared.
 */
export function useCommands(commands: Command[], active = true): void {
  const level = useContext(Level);
  const isAwake = useKeysAwake();
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  const shape = commands.map((command) => [command.id, command.title, command.group, command.keys?.join('|')].join('\n')).join('\n\n');
  useEffect(() => {
    if (!active || !isAwake) return;
    const stable = latest.current.map((command, at) => ({ ...command, run: () => latest.current[at]?.run() }));
    return registerCommands(stable, level);
  }, [active, isAwake, level, shape]);
}
