import type { Policy } from '@/api/types';
import { milliseconds } from '../parts/duration';
import type { Errors } from '../parts/useForm';

/** Kinds of questions, with the time each is given where nothing says otherwise. */
export const usualTimes = { blocking: '30m', non_blocking: 'never', approval: '15m', error_recovery: '10m' } as const;
export type QuestionKind = keyof typeof usualTimes;
export const kinds = ['blocking', 'approval', 'error_recovery', 'non_blocking'] as const satisfies QuestionKind[];

export const mostUndoSeconds = 300;

interface Words {
  notADuration: string;
  above: string;
  timeOrNever: string;
  percent: string;
  crossed: string;
  undoRange: (most: number) => string;
}

const whole = (n: unknown, most: number) => typeof n === 'number' && Number.isInteger(n) && n >= 0 && n <= most;

/** The server's rules for a policy (`Policy.Check`). */
export function checkPolicy(policy: Policy, words: Words): Errors {
  const errors: Errors = {};
  const [least, most] = [milliseconds(policy.min_timeout), milliseconds(policy.max_timeout)];
  if (least === undefined) errors.min_timeout = words.notADuration;
  if (most === undefined) errors.max_timeout = words.notADuration;
  if (least !== undefined && most !== undefined && least > most) errors.min_timeout = words.above;
  for (const [kind, time] of Object.entries(policy.default_timeout ?? {})) {
    if (time !== 'never' && milliseconds(time) === undefined) errors[`default_timeout.${kind}`] = words.timeOrNever;
  }
  const { auto_confidence: auto, ask_confidence: ask, undo_seconds: undo } = policy;
  if (auto !== undefined && !whole(auto, 100)) errors.auto_confidence = words.percent;
  if (ask !== undefined && !whole(ask, 100)) errors.ask_confidence = words.percent;
  if (!errors.auto_confidence && !errors.ask_confidence && auto !== undefined && ask !== undefined && ask > auto) errors.ask_confidence = words.crossed;
  if (undo !== undefined && !whole(undo, mostUndoSeconds)) errors.undo_seconds = words.undoRange(mostUndoSeconds);
  return errors;
}

/** The policy with another time for one kind of question; empty takes it away. */
export function withDefault(policy: Policy, kind: QuestionKind, time: string): Policy['default_timeout'] {
  const others = Object.entries(policy.default_timeout ?? {}).filter(([each]) => each !== kind);
  return Object.fromEntries(time === '' ? others : [...others, [kind, time]]);
}
