import { renderHook } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { Task } from '@/api/types';
import { roughDuration, waitingSentence, whoOf } from './waiting';
import { useWaitingText } from './waitingText';
import type { Run } from './api';

const now = new Date(2026, 10, 21, 14, 15).getTime();
const at = (hours: number, minutes: number) => new Date(2026, 10, 21, hours, minutes).toISOString();
const { result } = renderHook(() => useWaitingText());
const text = result.current;
const reader = { text, language: 'en' as const, now, me: 'anna' };

const task = (more: Partial<Task>): Task => ({
  id: 't', title: 't', state: 'open', priority: 2, project: 'default', attempts: 0, max_attempts: 3, runs: 0, unread: 0, can_resume: false, can_pause: false,
  created_at: at(14, 0), updated_at: at(14, 0), created_by: { kind: 'human', name: 'anna' }, workspace_id: 'w', ...more,
});
const waiting = { question_id: 'q', title: 'Which way?', type: 'blocking' as const, since: at(14, 0), deadline: at(14, 30), on_timeout: 'fail' as const };
const say = (more: Partial<Task>, run?: Run) => waitingSentence(task(more), run, reader).replaceAll('\u202f', ' ');

describe('who is waited for, since when, until when, and what happens then', () => {
  it('is one sentence for a question', () => {
    expect(say({ state: 'awaiting_input', waiting })).toBe('Waits for anyone who may answer, since 2:00 PM (15 min); if nobody answers by 2:30 PM (in 15 min.), the task fails.');
    expect(say({ state: 'awaiting_approval', waiting: { ...waiting, type: 'approval', assignees: ['anna', 'group:ops', 'role:admin'] } })).toBe(
      'Waits for you, the group ops or every admin, since 2:00 PM (15 min); if nobody answers by 2:30 PM (in 15 min.), nothing is approved and the task fails.',
    );
    expect(say({ state: 'awaiting_input', waiting: { ...waiting, deadline: undefined } })).toContain('there is no deadline');
  });

  it('is there for every state', () => {
    const states: Task['state'][] = ['open', 'blocked', 'deferred', 'in_progress', 'awaiting_input', 'awaiting_approval', 'input_received', 'done', 'failed', 'cancelled', 'skipped'];
    for (const state of states) expect(say({ state })).toMatch(/^[A-Z].*\.$/);
  });

  it('names worker, lease and tasks that are waited for', () => {
    const run: Run = { id: 'r', task_id: 't', attempt: 1, state: 'running', worker: 'build-1', token: 1, lease_until: at(14, 16), claimed_from: 'open', started_at: at(14, 5), workspace_id: 'w' };
    expect(say({ state: 'in_progress' }, run)).toBe('build-1 works on it, since 2:05 PM (10 min); if no heartbeat comes by 2:16 PM, the task goes back.');
    const none = { text: '', start: 'fermata worker --allow-task-commands' };
    expect(say({ no_worker: { lacks: 'worker', ...none } })).toBe('Waits for a worker, since 2:00 PM (15 min): none is running.');
    expect(say({ runner: 'shell', no_worker: { lacks: 'runner', ...none } })).toContain('none of those that are running runs the commands of tasks.');
    expect(say({ state: 'input_received', runner: 'claude', no_worker: { lacks: 'runner', ...none } })).toMatch(/something new.*has the runner claude\.$/);
    expect(say({ isolated: true, no_worker: { lacks: 'isolation', ...none } })).toContain('isolates its agents.');
    expect(say({ project: 'shop', no_worker: { lacks: 'project', ...none } })).toContain('of the project shop.');
    expect(say({ agent: 'review', no_worker: { lacks: 'agent', ...none } })).toContain('for the role review.');
    expect(say({ state: 'blocked', blocked_by: ['a', 'b'] })).toContain('2 other tasks');
    expect(say({ state: 'failed', reason: 'question_timed_out' })).toContain('nobody answered in time');
    expect(say({ state: 'cancelled', reason: 'not needed' })).toContain('not needed');
  });
});

it('names who may answer', () => {
  expect(whoOf(['bob'], reader)).toBe('bob');
  expect(whoOf([], reader)).toBe('anyone who may answer');
});

it('leaves out seconds that nobody reads', () => {
  expect([roughDuration(14_000), roughDuration(75_000), roughDuration(3_700_000)]).toEqual(['14 s', '1 min', '1 h 1 min']);
});
