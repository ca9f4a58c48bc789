import { renderHook } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useSteadyList } from './steadyList';

it('gives the same array again as long as nothing changed: what hangs on it rests', () => {
  const list = [{ id: 'a' }, { id: 'b' }];
  const { result, rerender } = renderHook(({ hold, items }) => useSteadyList(items, hold, 'x'), { initialProps: { hold: true, items: list } });
  const first = result.current.shown;
  rerender({ hold: true, items: [...list] });
  expect(result.current.shown).toBe(first);
  rerender({ hold: true, items: [{ id: 'n' }, ...list] });
  expect(result.current.shown).toBe(first);
  expect(result.current.fresh).toBe(1);
  rerender({ hold: false, items: [{ id: 'n' }, ...list] });
  expect(result.current.shown.map((each) => each.id)).toEqual(['n', 'a', 'b']);
});
