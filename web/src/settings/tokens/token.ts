import type { NewToken, Token } from '@/api/types';
import { milliseconds } from '../parts/duration';
import { isName } from '../parts/name';
import type { Errors } from '../parts/useForm';

export const scopes = ['ask', 'answer', 'work', 'read', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** Returns the word for a scope. An unknown scope is returned as it is. */
export function scopeWord(words: Record<Scope, string>, scope: string): string {
  const known = scopes.find((each) => each === scope);
  return known ? words[known] : scope;
}

export interface TokenValues {
  name: string;
  kind: Token['kind'];
  member: string;
  scopes: Scope[];
  projects: string[];
  expires_in: string;
}

/** Reports whether a token of this kind may have a scope. An agent's token can neither answer nor administer. */
export const mayHave = (kind: Token['kind'], scope: Scope) => kind === 'human' || (scope !== 'answer' && scope !== 'admin');

interface Words {
  needed: string;
  memberNeeded: string;
  scopesNeeded: string;
  notADuration: string;
  projectsWrong: string;
  tooLong: (most: number) => string;
}

/** Checks a new token by the server's rules. */
export function checkToken(values: TokenValues, words: Words): Errors {
  const errors: Errors = {};
  const name = values.name.trim();
  if (name === '') errors.name = words.needed;
  if (name.length > 100) errors.name = words.tooLong(100);
  if (values.kind === 'human' && values.member === '') errors.member = words.memberNeeded;
  if (!values.scopes.some((scope) => mayHave(values.kind, scope))) errors.scopes = words.scopesNeeded;
  if (values.kind === 'agent' && !values.projects.every(isName)) errors.projects = words.projectsWrong;
  if (values.expires_in !== 'never' && milliseconds(values.expires_in) === undefined) errors.expires_in = words.notADuration;
  return errors;
}

/** Returns the request for a new token with the values of the form. */
export function newToken({ name, kind, member, scopes: chosen, projects, expires_in }: TokenValues): NewToken {
  return {
    name: name.trim(), kind, scopes: chosen.filter((scope) => mayHave(kind, scope)), expires_in,
    ...(kind === 'human' ? { member } : {}), ...(kind === 'agent' && projects.length > 0 ? { projects } : {}),
  };
}

/** Returns whether a token is valid, has expired or was revoked. */
export function tokenState(token: Token, now: number): 'good' | 'expired' | 'withdrawn' {
  if (token.revoked_at) return 'withdrawn';
  return token.expires_at && Date.parse(token.expires_at) <= now ? 'expired' : 'good';
}
