import type { Whoami } from '@/api/types';

const has = (me: Whoami | undefined, scope: Whoami['scopes'][number]) => me?.scopes.includes(scope) ?? false;

/** Changes people, tokens and policies. */
export const mayAdminister = (me: Whoami | undefined) => me?.kind === 'human' && has(me, 'admin');

/** Is an admin whose sign-in is too old, or too weak, for what the policy asks of admins. */
export const mustSignInAgain = (me: Whoami | undefined) => me?.role === 'admin' && me.session_id !== undefined && !has(me, 'admin');

/** Changes the rules of tool calls. */
export const mayRule = (me: Whoami | undefined) =>
  mayAdminister(me) || (me?.kind === 'human' && has(me, 'answer') && (me.role === 'operator' || me.role === 'admin'));

/** Sees what was sent to others, and has it sent again. */
export const mayOversee = (me: Whoami | undefined) => mayAdminister(me) || (me?.kind === 'human' && (me.role === 'operator' || me.role === 'admin'));
