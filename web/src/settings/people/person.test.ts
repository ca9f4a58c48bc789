import { describe, expect, it } from 'vitest';
import type { Member } from '@/api/types';
import { changeOf, checkPerson, newPerson, emptyPerson, valuesOf, type PersonValues } from './person';

const words = { needed: 'needed', tooLong: (most: number) => `most ${most}`, handleWrong: 'handle', emailWrong: 'email', groupNameWrong: 'group', projectTwice: 'twice' };
const good: PersonValues = { ...emptyPerson, handle: 'ada' };

describe('a person', () => {
  it.each<[Partial<PersonValues>, object]>([
    [{}, {}],
    [{ handle: '' }, { handle: 'needed' }],
    [{ handle: '', email: 'ada@example.com' }, { handle: 'needed' }],
    [{ handle: 'Ada L' }, { handle: 'handle' }],
    [{ email: 'ada' }, { email: 'email' }],
    [{ email: 'Ada <ada@example.com>' }, { email: 'email' }],
    [{ groups: ['a,b'] }, { groups: 'group' }],
    [{ projects: [{ project: 'shop', role: 'viewer' }, { project: 'shop', role: 'operator' }] }, { 'projects[1]': 'twice' }],
    [{ projects: [{ project: '', role: 'viewer' }] }, { 'projects[0]': 'needed' }],
  ])('with %j has the faults %j', (change, errors) => expect(checkPerson({ ...good, ...change }, words)).toEqual(errors));

  it('that is invited may be known by the address alone', () => {
    expect(checkPerson({ ...emptyPerson, email: 'ada@example.com' }, words, true)).toEqual({});
    expect(checkPerson(emptyPerson, words, true)).toEqual({ handle: 'needed' });
    expect(newPerson({ ...emptyPerson, email: ' ada@example.com ' })).toEqual({ role: 'responder', email: 'ada@example.com' });
  });
});

describe('a change', () => {
  const ada: Member = { id: 'm', handle: 'ada', role: 'responder', created_at: '', groups: ['b', 'a'], projects: { shop: 'operator' } };
  it('says only what differs', () => {
    const values = valuesOf(ada);
    expect(changeOf(ada, values)).toEqual({});
    expect(changeOf(ada, { ...values, groups: ['a', 'b'] })).toEqual({});
    expect(changeOf(ada, { ...values, groups: [], name: 'Ada ' })).toEqual({ groups: [], name: 'Ada' });
    expect(changeOf(ada, { ...values, role: 'admin' })).toEqual({ role: 'admin', projects: {} });
  });
});
