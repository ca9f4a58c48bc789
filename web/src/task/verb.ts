import type { Task } from '@/api/types';
import { columnOf } from './filters';

/** The actions of a person on a task, besides reading it and writing to it. */
export type Verb = 'pause' | 'resume' | 'defer' | 'reopen' | 'priority' | 'labels' | 'cancel';

/** Reports whether a person paused the task. It waits until a person hands it back. */
export const isPaused = (task: Task) => task.state === 'deferred' && task.reason === 'paused';

/** Returns the verbs that the task's state allows, in the order of a menu. */
export function verbsFor(task: Task): Verb[] {
  const ended = columnOf(task.state) === 'done';
  const all: [Verb, boolean][] = [
    ['pause', task.can_pause],
    ['resume', task.can_resume],
    ['defer', task.runner !== 'external' && ['open', 'blocked', 'input_received'].includes(task.state)],
    ['reopen', ended || (task.state === 'deferred' && !isPaused(task))],
    ['priority', !ended],
    ['labels', true],
    ['cancel', !ended],
  ];
  return all.filter(([, allowed]) => allowed).map(([verb]) => verb);
}

/** Returns the instants until which a menu offers to defer a task. */
export function deferTimes(now: Date): { inOneHour: Date; tomorrow: Date; nextWeek: Date } {
  const at = (days: number) => {
    const day = new Date(now);
    day.setDate(day.getDate() + days);
    day.setHours(9, 0, 0, 0);
    return day;
  };
  return { inOneHour: new Date(now.getTime() + 3_600_000), tomorrow: at(1), nextWeek: at(((8 - now.getDay()) % 7) || 7) };
}
