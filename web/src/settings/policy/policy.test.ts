import { describe, expect, it } from 'vitest';
import type { Policy } from '@/api/types';
import { checkPolicy, readReminders, withTime, writeReminders } from './policy';

const words = { notADuration: 'time', above: 'above', timeOrNever: 'time or never', reminderTimes: 'times', repeatTime: 'repeat', keepTime: 'keep', percent: 'percent', crossed: 'crossed', undoRange: (most: number) => `0–${most}` };
const good: Policy = { min_timeout: '5m', max_timeout: '24h', allow_never: true, allow_longer: true, allow_shorter: false };

describe('a policy', () => {
  it.each<[Partial<Policy>, object]>([
    [{}, {}],
    [{ min_timeout: '' }, { min_timeout: 'time' }],
    [{ max_timeout: 'never' }, { max_timeout: 'time' }],
    [{ min_timeout: '2d' }, { min_timeout: 'above' }],
    [{ min_timeout: '24h', max_timeout: '1d' }, {}],
    [{ default_timeout: { blocking: 'never', approval: '15m' } }, {}],
    [{ default_timeout: { approval: 'later' } }, { 'default_timeout.approval': 'time or never' }],
    [{ resumed_timeout: { blocking: '3d', approval: 'never' }, reminders: ['1h', '1d'], remind_every: '7d' }, {}],
    [{ resumed_timeout: { approval: 'later' } }, { 'resumed_timeout.approval': 'time or never' }],
    [{ reminders: [], remind_every: 'never' }, {}],
    [{ reminders: ['soon'] }, { reminders: 'times' }],
    [{ reminders: ['1h', '1h'] }, { reminders: 'times' }],
    [{ reminders: ['31d'] }, { reminders: 'times' }],
    [{ remind_every: '5m' }, { remind_every: 'repeat' }],
    [{ auto_confidence: 101 }, { auto_confidence: 'percent' }],
    [{ ask_confidence: 1.5 }, { ask_confidence: 'percent' }],
    [{ auto_confidence: 40, ask_confidence: 50 }, { ask_confidence: 'crossed' }],
    [{ auto_confidence: 50, ask_confidence: 50 }, {}],
    [{ undo_seconds: 0 }, {}],
    [{ keep_tasks: '90d', keep_logs: 'never', keep_deliveries: '' }, {}],
    [{ keep_tasks: '23h', keep_logs: 'soon' }, { keep_tasks: 'keep', keep_logs: 'keep' }],
    [{ undo_seconds: 301 }, { undo_seconds: '0–300' }],
  ])('with %j has the faults %j', (change, errors) => expect(checkPolicy({ ...good, ...change }, words)).toEqual(errors));

  it('takes the usual time back', () => {
    const policy = { ...good, default_timeout: { blocking: '1h', approval: '2h' } };
    expect(withTime(policy.default_timeout, 'blocking', '')).toEqual({ approval: '2h' });
    expect(withTime(policy.default_timeout, 'error_recovery', '5m')).toEqual({ blocking: '1h', approval: '2h', error_recovery: '5m' });
  });

  it.each<[string, string[] | undefined]>([['', undefined], ['none', []], ['1h', ['1h']], ['1h, 1d', ['1h', '1d']]])('reads the reminders %j', (text, times) => {
    expect(readReminders(text)).toEqual(times);
    expect(writeReminders(times)).toBe(text);
  });
});
