import { expect, it } from 'vitest';
import { daysOf, exportOf, queryOf } from './filter';

it('has the last day whole', () => {
  expect(daysOf({ from: '2026-11-20', to: '2026-11-20' })).toEqual({ from: new Date(2026, 10, 20).toISOString(), to: new Date(2026, 10, 21).toISOString() });
  expect(daysOf({ from: 'x', to: '' })).toEqual({});
});

it('says nothing of what is not searched', () => {
  expect(queryOf({ q: '', type: 'question', actor: undefined })).toEqual({ type: ['question'] });
  expect(exportOf({ q: 'x' })).toBe('/v1/audit/export');
  expect(exportOf({ from: '2026-11-20' })).toContain('?from=2026-11');
});
