import { expect, it } from 'vitest';
import { shareOf, timeOf } from './figures';

it.each([[null, '–'], [0.44, '0.4 s'], [3, '3 s'], [59.6, '1:00 min'], [303, '5:03 min'], [7500, '2 h 5 min'], [200_000, '2 d 7 h']])('writes %s seconds as %s', (seconds, written) => {
  expect(timeOf(seconds)).toBe(written);
});

it.each([[null, '–'], [0, '0%'], [0.034, '3.4%'], [0.126, '13%'], [1, '100%']])('writes %s as %s', (value, written) => {
  expect(shareOf({ value, n: 7 }, 'en')).toBe(written);
});
