import { describe, expect, it } from 'vitest';
import { chosenDays, periodOf, queryOf } from './period';

const now = new Date(2026, 10, 21, 14, 30);

describe('a period', () => {
  it.each([
    ['1d', new Date(2026, 10, 20, 15), new Date(2026, 10, 21, 15), 'hour'],
    ['7d', new Date(2026, 10, 15), new Date(2026, 10, 22), 'day'],
    [undefined, new Date(2026, 9, 23), new Date(2026, 10, 22), 'day'],
    ['nonsense', new Date(2026, 9, 23), new Date(2026, 10, 22), 'day'],
    ['365d', new Date(2025, 10, 22), new Date(2026, 10, 22), 'week'],
  ])('of %s begins and ends with whole steps', (range, from, to, interval) => {
    expect(periodOf({ range }, now)).toEqual({ from, to, interval });
  });

  it('of own days has the last one, too', () => {
    expect(periodOf({ range: 'own', from: '2026-11-01', to: '2026-11-02' }, now)).toEqual({ from: new Date(2026, 10, 1), to: new Date(2026, 10, 3), interval: 'hour' });
    expect(chosenDays({ range: 'own', from: '2026-11-03', to: '2026-11-02' })).toBeUndefined();
    expect(chosenDays({ range: 'own', from: '2026-11-03' })).toBeUndefined();
  });

  it('goes to the server with the filters that it knows', () => {
    expect(queryOf({ project: 'shop', type: 'approval' }, now).query).toMatchObject({ project: 'shop', type: 'approval' });
    expect(queryOf({ project: '', type: 'x' }, now).query).not.toHaveProperty('type');
  });
});
