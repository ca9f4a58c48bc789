import { expect, it } from 'vitest';
import { snoozeTimes } from './snooze';

const names = (now: Date) => snoozeTimes(now).map((time) => time.name);

it('offers what lies ahead', () => {
  expect(names(new Date(2026, 10, 18, 10))).toEqual(['in15m', 'in1h', 'tonight', 'tomorrow', 'monday']);
  expect(names(new Date(2026, 10, 18, 20))).toEqual(['in15m', 'in1h', 'tomorrow', 'monday']);
  // On a Sunday, tomorrow is Monday.
  expect(names(new Date(2026, 10, 22, 10))).toEqual(['in15m', 'in1h', 'tonight', 'tomorrow']);
  expect(snoozeTimes(new Date(2026, 10, 18, 10), new Date(2026, 10, 18, 10, 30)).map((time) => time.name)).toEqual(['in15m']);
  const monday = snoozeTimes(new Date(2026, 10, 23, 10)).at(-1);
  expect([monday?.name, monday?.at.getDate()]).toEqual(['monday', 30]);
});
