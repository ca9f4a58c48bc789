import { expect, it, vi } from 'vitest';
import { noteServerDate, serverNow } from './time';

it('follows a server whose clock is ten minutes ahead', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T12:00:00.500Z') });
  noteServerDate('Sat, 21 Nov 2026 12:10:00 GMT', Date.now() - 40, Date.now());
  const ahead = serverNow() - Date.now();
  expect(ahead).toBeGreaterThan(599_000);
  expect(ahead).toBeLessThan(601_000);
  vi.useRealTimers();
});
