import { describe, expect, it } from 'vitest';
import type { Task } from '@/api/types';
import { refetchDelay } from '@/api/followEvents';
import { columnOf, columns, columnStates, filtersOf, countFilters, queryOf, statesIn, viewOf } from './filters';
import { holdSteady } from './steadyList';
import { treeRows } from './tree';
import { deferTimes, verbsFor } from './verb';

const task = (id: string, more: Partial<Task> = {}): Task => ({
  id, title: id, state: 'open', priority: 2, project: 'default', attempts: 0, max_attempts: 3, runs: 0, unread: 0, can_resume: false, can_pause: false,
  created_at: '2026-11-21T12:00:00Z', updated_at: '2026-11-21T12:00:00Z', created_by: { kind: 'human', name: 'anna' }, workspace_id: 'w', ...more,
});
const ids = (list: { id: string }[]) => list.map((each) => each.id).join(' ');
const list = (names: string) => names.split(' ').filter(Boolean).map((id) => ({ id }));

describe('filters in the address', () => {
  it('are read, and what is unknown is left out', () => {
    const filters = filtersOf({ q: 'x', is: 'failed', sort: 'priority', label: 'bug', view: 'board' });
    expect(queryOf(filters)).toEqual({ q: 'x', label: 'bug', state: ['failed'] });
    expect(countFilters(filters)).toBe(3);
    expect(filtersOf({ is: 'bogus', sort: 'bogus' })).toEqual(filtersOf({}));
    expect(queryOf(filtersOf({}))).toEqual({});
    expect([viewOf({ view: 'tree' }), viewOf({ view: 'bogus' }), viewOf({})]).toEqual(['tree', 'list', 'list']);
  });

  it('leave each column what it has of them', () => {
    expect(statesIn('done', filtersOf({ is: 'failed' }))).toEqual(['failed']);
    expect(statesIn('ready', filtersOf({ is: 'failed' }))).toBeUndefined();
    expect(statesIn('ready', filtersOf({}))).toEqual(columnStates.ready);
  });

  it('put every state into one column', () => {
    const all = Object.values(columnStates).flat();
    expect(new Set(all).size).toBe(11);
    expect(columns.map((column) => columnStates[column].map(columnOf))).toEqual(columns.map((column) => columnStates[column].map(() => column)));
  });
});

describe('a list that is read', () => {
  it('keeps every place, and counts what is new', () => {
    const next = holdSteady(list('a b c'), list('n a c'));
    expect([ids(next.shown), [...next.gone], next.fresh]).toEqual(['a b c', ['b'], 1]);
  });

  it('brings what it shows up to date', () => {
    const fresh = { id: 'a', title: 'new' };
    expect(holdSteady([{ id: 'a', title: 'old' }], [fresh]).shown[0]).toBe(fresh);
  });

  it('grows at its end', () => {
    const next = holdSteady(list('a b'), list('a b c d'));
    expect([ids(next.shown), next.fresh]).toEqual(['a b c d', 0]);
  });

  it('changes nothing when asked again', () => {
    const once = holdSteady(list('a b c'), list('x a c d'));
    expect(holdSteady(once.shown, list('x a c d'))).toEqual(once);
  });
});

describe('a tree', () => {
  const tasks = [task('p'), task('c1', { parent_id: 'p' }), task('g', { parent_id: 'c1' }), task('c2', { parent_id: 'p' }), task('o', { parent_id: 'far' })];
  it('puts children below their parents, in the order of the list', () => {
    expect(treeRows(tasks, new Set()).map((branch) => `${branch.level}${branch.task.id}`)).toEqual(['1p', '2c1', '3g', '2c2', '1o']);
    expect(treeRows(tasks, new Set()).at(-1)?.elsewhere).toBe(true);
  });
  it('folds', () => expect(treeRows(tasks, new Set(['c1'])).map((branch) => branch.task.id)).toEqual(['p', 'c1', 'c2', 'o']));
  it('does not mind children that come before their parents', () => {
    expect(treeRows([...tasks].reverse(), new Set()).map((branch) => branch.task.id)).toEqual(['o', 'p', 'c2', 'c1', 'g']);
  });
});

describe('verbs', () => {
  it('are those that the state allows', () => {
    expect(verbsFor(task('a'))).toEqual(['defer', 'priority', 'labels', 'cancel']);
    expect(verbsFor(task('a', { state: 'awaiting_input', can_resume: true }))).toEqual(['resume', 'priority', 'labels', 'cancel']);
    expect(verbsFor(task('a', { state: 'in_progress', can_pause: true }))).toContain('pause');
    expect(verbsFor(task('a', { state: 'deferred', reason: 'paused', can_resume: true }))).toEqual(['resume', 'priority', 'labels', 'cancel']);
    expect(verbsFor(task('a', { state: 'deferred', can_resume: true }))).toEqual(['resume', 'reopen', 'priority', 'labels', 'cancel']);
    expect(verbsFor(task('a', { state: 'failed' }))).toEqual(['reopen', 'labels']);
    expect(verbsFor(task('a', { state: 'in_progress', runner: 'external' }))).toEqual(['priority', 'labels', 'cancel']);
  });
  it('offer times to come, Monday on a Monday being the next one', () => {
    const { inOneHour, tomorrow, nextWeek } = deferTimes(new Date(2026, 10, 23, 8, 0));
    expect([inOneHour.getHours(), tomorrow.getDate(), tomorrow.getHours(), nextWeek.getDate(), nextWeek.getDay()]).toEqual([9, 24, 9, 30, 1]);
  });
});

it('reads long lists again less often', () => {
  expect(refetchDelay(1)).toBe(250);
  expect(refetchDelay(100)).toBeGreaterThan(30_000);
});
