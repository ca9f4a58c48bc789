import type { Policy } from '@/api/types';
import { milliseconds } from '../parts/duration';
import type { Errors } from '../parts/useForm';

/** The default time limit of each type of question, if neither the question nor the policy sets one. */
export const usualTimes = { blocking: '30m', non_blocking: 'never', approval: '15m', error_recovery: '10m' } as const;
export type QuestionKind = keyof typeof usualTimes;
export const kinds = ['blocking', 'approval', 'error_recovery', 'non_blocking'] as const satisfies QuestionKind[];

/** The types of questions that stop a session. Fermata resumes the session with the answer. */
export const resumedKinds = ['blocking', 'approval', 'error_recovery'] as const satisfies QuestionKind[];

/** When people are reminded of a stopped session's question, unless the policy sets other times. */
export const usualReminders = '1h, 1d';
export const usualRemindEvery = '7d';
export const maxReminders = 10;

export const maxUndoSeconds = 300;

/** What is kept for a time after its end. */
export const keptKinds = ['keep_tasks', 'keep_logs', 'keep_deliveries'] as const;

/** The properties of one part of the form. */
export interface PolicyPartProps {
  policy: Policy;
  set: <K extends keyof Policy>(key: K, value: Policy[K]) => void;
  errors: Partial<Record<string, string>>;
}

interface Words {
  notADuration: string;
  above: string;
  timeOrNever: string;
  reminderTimes: string;
  repeatTime: string;
  keepTime: string;
  percent: string;
  crossed: string;
  undoRange: (most: number) => string;
}

const hour = 3_600_000;
const day = 24 * hour;
const isWithin = (time: string, least: number, most: number) => {
  const ms = milliseconds(time);
  return ms !== undefined && ms >= least && ms <= most;
};
const isWhole = (n: unknown, most: number) => typeof n === 'number' && Number.isInteger(n) && n >= 0 && n <= most;

/** Checks a policy by the server's rules (`Policy.Check`). */
export function checkPolicy(policy: Policy, words: Words): Errors {
  const errors: Errors = {};
  const [least, most] = [milliseconds(policy.min_timeout), milliseconds(policy.max_timeout)];
  if (least === undefined) errors.min_timeout = words.notADuration;
  if (most === undefined) errors.max_timeout = words.notADuration;
  if (least !== undefined && most !== undefined && least > most) errors.min_timeout = words.above;
  for (const field of ['default_timeout', 'resumed_timeout'] as const) {
    for (const [kind, time] of Object.entries(policy[field] ?? {})) {
      if (time !== 'never' && milliseconds(time) === undefined) errors[`${field}.${kind}`] = words.timeOrNever;
    }
  }
  const reminders = policy.reminders ?? [];
  if (reminders.length > maxReminders || new Set(reminders).size < reminders.length || reminders.some((time) => !isWithin(time, 1, 30 * day))) errors.reminders = words.reminderTimes;
  const every = policy.remind_every;
  if (every !== undefined && every !== '' && every !== 'never' && !isWithin(every, hour, 360 * day)) errors.remind_every = words.repeatTime;
  for (const kind of keptKinds) {
    const time = policy[kind] ?? '';
    if (time !== '' && time !== 'never' && !isWithin(time, day, Infinity)) errors[kind] = words.keepTime;
  }
  const { auto_confidence: auto, ask_confidence: ask, undo_seconds: undo } = policy;
  if (auto !== undefined && !isWhole(auto, 100)) errors.auto_confidence = words.percent;
  if (ask !== undefined && !isWhole(ask, 100)) errors.ask_confidence = words.percent;
  if (!errors.auto_confidence && !errors.ask_confidence && auto !== undefined && ask !== undefined && ask > auto) errors.ask_confidence = words.crossed;
  if (undo !== undefined && !isWhole(undo, maxUndoSeconds)) errors.undo_seconds = words.undoRange(maxUndoSeconds);
  return errors;
}

/** Returns the times by type of question with a new time for one type. An empty time removes that type. */
export function withTime(times: Policy['default_timeout'], kind: QuestionKind, time: string): Policy['default_timeout'] {
  const otherTimes = Object.entries(times ?? {}).filter(([each]) => each !== kind);
  return Object.fromEntries(time === '' ? otherTimes : [...otherTimes, [kind, time]]);
}

/**
 * Reads a list of times. The text "none" gives an empty list. An empty text gives undefined, which means the usual
 * times.
 */
export function readReminders(text: string): Policy['reminders'] {
  const times = text.split(',').map((time) => time.trim()).filter((time) => time !== '');
  if (times.length === 0) return undefined;
  return times.length === 1 && times[0] === 'none' ? [] : times;
}

/** Writes a list of times as {@link readReminders} reads it. */
export function writeReminders(times: Policy['reminders']): string {
  if (times === undefined) return '';
  return times.length === 0 ? 'none' : times.join(', ');
}
