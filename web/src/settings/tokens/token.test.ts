import { describe, expect, it } from 'vitest';
import type { Token } from '@/api/types';
import { checkToken, newToken, tokenState, type TokenValues } from './token';

const words = { needed: 'needed', memberNeeded: 'who', scopesNeeded: 'what', notADuration: 'time', projectsWrong: 'project', tooLong: (most: number) => `most ${most}` };
const good: TokenValues = { name: 'claude', kind: 'agent', member: '', scopes: ['ask'], projects: [], expires_in: '30d' };

describe('a new token', () => {
  it.each<[Partial<TokenValues>, object]>([
    [{}, {}],
    [{ expires_in: 'never' }, {}],
    [{ name: ' ' }, { name: 'needed' }],
    [{ name: 'x'.repeat(101) }, { name: 'most 100' }],
    [{ kind: 'human' }, { member: 'who' }],
    [{ kind: 'human', member: 'ada' }, {}],
    [{ scopes: [] }, { scopes: 'what' }],
    [{ scopes: ['answer', 'admin'] }, { scopes: 'what' }],
    [{ expires_in: 'soon' }, { expires_in: 'time' }],
    [{ projects: ['web', 'a b'] }, { projects: 'project' }],
    [{ kind: 'human', member: 'ada', projects: ['a b'] }, {}],
  ])('with %j has the faults %j', (change, errors) => expect(checkToken({ ...good, ...change }, words)).toEqual(errors));

  it('of an agent has neither a person nor what only people may', () => {
    expect(newToken({ ...good, name: ' claude ', member: 'ada', scopes: ['ask', 'answer', 'admin'] })).toEqual({ name: 'claude', kind: 'agent', scopes: ['ask'], expires_in: '30d' });
  });

  it('has projects only if it is an agent’s', () => {
    expect(newToken({ ...good, projects: ['web'] })).toMatchObject({ projects: ['web'] });
    expect(newToken({ ...good, kind: 'human', member: 'ada', projects: ['web'] })).not.toHaveProperty('projects');
  });
});

it('is withdrawn before it has run out', () => {
  const token: Token = { id: 't', name: 't', kind: 'agent', scopes: ['ask'], workspace_id: 'w', created_at: '2026-01-01T00:00:00Z' };
  const now = Date.parse('2026-06-01T00:00:00Z');
  expect(tokenState(token, now)).toBe('good');
  expect(tokenState({ ...token, expires_at: '2026-06-01T00:00:00Z' }, now)).toBe('expired');
  expect(tokenState({ ...token, expires_at: '2026-05-01T00:00:00Z', revoked_at: '2026-04-01T00:00:00Z' }, now)).toBe('withdrawn');
});
