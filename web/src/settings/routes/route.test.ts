import { expect, it } from 'vitest';
import type { Routes } from '@/api/types';
import { checkPlan, isDelay, moveStep, planOf, routesOf, stepAt } from './route';

const routes: Routes = {
  blocking: [{ after: '30s', channel: 'push', when: 'page_closed' }, { after: '5m', channel: 'email' }], approval: [], error_recovery: [], non_blocking: [], progress: [],
};

it('edits what it was given', () => {
  expect(routesOf(planOf(routes)).blocking).toEqual([{ after: '30s', channel: 'push', when: 'page_closed' }, { after: '5m', channel: 'email', when: 'always' }]);
});

it.each(['0s', '30s', '5m', '1h30m', '1.5h', '3d'])('waits %s', (text) => expect(isDelay(text)).toBe(true));
it.each(['', '5', 'soon', '-5m', '5 m', '1d2h'])('does not wait "%s"', (text) => expect(isDelay(text)).toBe(false));

it('finds the step that is wrong', () => {
  const plan = planOf(routes);
  plan.approval = [{ key: 'x', after: 'soon', channel: '', when: 'always' }];
  expect(checkPlan(plan, { needed: 'needed', notADuration: 'no' })).toEqual({ 'approval[0].after': 'no', 'approval[0].channel': 'needed' });
});

it('moves a step, but not over the edge', () => {
  expect(moveStep([1, 2, 3], 0, 1)).toEqual([2, 1, 3]);
  expect(moveStep([1, 2, 3], 2, -1)).toEqual([1, 3, 2]);
  expect(moveStep([1, 2, 3], 0, -1)).toEqual([1, 2, 3]);
  expect(moveStep([1, 2, 3], 2, 1)).toEqual([1, 2, 3]);
});

it('finds the step that the server names', () => {
  expect(stepAt('error_recovery[11]')).toEqual({ type: 'error_recovery', number: 12 });
  expect(stepAt('blocking')).toBeUndefined();
  expect(stepAt('unknown[0]')).toBeUndefined();
});
