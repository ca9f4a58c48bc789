import { expect, it } from 'vitest';
import { safeReturnPath } from './safeReturnPath';

it.each(['/', '/questions/q_1?tab=2#end', '/settings/tokens'])('goes back to %s', (path) => expect(safeReturnPath(path)).toBe(path));

it.each([undefined, '', 'https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example', 'javascript:alert(1)', '/sign-in', '/sign-in?return=/sign-in', '/v1/sign-out', '/.//evil.example'])(
  'goes to the inbox instead of to %j',
  (path) => expect(safeReturnPath(path)).toBe('/'),
);
