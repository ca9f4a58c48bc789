import { createContext, useContext, useEffect, useRef, type ReactNode } from 'react';
import { openScope, register, type Command } from './registry';

const Level = createContext(0);

/** Commands within it act alone while it is there: for dialogs. */
export function KeyScope({ children }: { children: ReactNode }) {
  const level = useContext(Level) + 1;
  useEffect(() => openScope(level), [level]);
  return <Level value={level}>{children}</Level>;
}

const Awake = createContext(true);

/** Commands within it act only while it is on: for what is one thing among others on a page. */
export function KeysWhile({ on, children }: { on: boolean; children: ReactNode }) {
  return <Awake value={on}>{children}</Awake>;
}

/**
 * Registers commands while the component is there. What they run may change
 * with every render; their ids, keys and titles are compared.
 */
export function useCommands(commands: Command[], active = true): void {
  const level = useContext(Level);
  const awake = useContext(Awake);
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  const shape = commands.map((command) => [command.id, command.title, command.group, command.keys?.join('|')].join('\n')).join('\n\n');
  useEffect(() => {
    if (!active || !awake) return;
    const stable = latest.current.map((command, at) => ({ ...command, run: () => latest.current[at]?.run() }));
    return register(stable, level);
  }, [active, awake, level, shape]);
}
