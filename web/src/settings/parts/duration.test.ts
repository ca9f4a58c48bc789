import { expect, it } from 'vitest';
import { milliseconds } from './duration';

it.each([
  ['90s', 90_000], ['30m', 1_800_000], ['36h', 129_600_000], ['3d', 259_200_000], ['1h30m', 5_400_000], ['1.5h', 5_400_000], ['+5m', 300_000], ['.5s', 500],
])('reads %s', (written, ms) => expect(milliseconds(written)).toBe(ms));

it.each(['', '0s', '0d', '-5m', '5', 'never', '5 m', '1d2h', '1.5d', 'm', '5x', '200000d', '1.h.', '9999999h'])('refuses "%s"', (written) => {
  expect(milliseconds(written)).toBeUndefined();
});
