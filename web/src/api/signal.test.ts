import { expect, it, vi } from 'vitest';
import { signal } from './signal';

it('calls every listener with the values, in order', () => {
  const changes = signal<[string, number]>();
  const calls: unknown[] = [];
  changes.subscribe((...values) => calls.push(['first', ...values]));
  changes.subscribe((...values) => calls.push(['second', ...values]));
  changes.notify('a', 1);
  expect(calls).toEqual([['first', 'a', 1], ['second', 'a', 1]]);
});

it('calls a listener once, even if it subscribed twice', () => {
  const changes = signal();
  const listener = vi.fn();
  changes.subscribe(listener);
  changes.subscribe(listener);
  changes.notify();
  expect(listener).toHaveBeenCalledOnce();
});

it('no longer calls a listener that stopped, and knows when none is left', () => {
  const changes = signal();
  const listener = vi.fn();
  expect(changes.hasListeners()).toBe(false);
  const stop = changes.subscribe(listener);
  expect(changes.hasListeners()).toBe(true);
  stop();
  stop();
  changes.notify();
  expect(listener).not.toHaveBeenCalled();
  expect(changes.hasListeners()).toBe(false);
});

it('lets a listener stop itself while it is called', () => {
  const changes = signal();
  const other = vi.fn();
  const stop = changes.subscribe(() => stop());
  changes.subscribe(other);
  changes.notify();
  changes.notify();
  expect(other).toHaveBeenCalledTimes(2);
});
