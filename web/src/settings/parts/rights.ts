import type { Whoami } from '@/api/types';

const hasScope = (me: Whoami | undefined, scope: Whoami['scopes'][number]) => me?.scopes.includes(scope) ?? false;

/** Reports whether the reader may change people, tokens and policies. */
export const mayAdminister = (me: Whoami | undefined) => me?.kind === 'human' && hasScope(me, 'admin');

/** Reports whether the reader is an admin whose sign-in is too old or too weak for the policy. */
export const mustSignInAgain = (me: Whoami | undefined) => me?.role === 'admin' && me.session_id !== undefined && !hasScope(me, 'admin');

/** Reports whether the reader may change the rules for tool calls. */
export const mayChangeRules = (me: Whoami | undefined) =>
  mayAdminister(me) || (me?.kind === 'human' && hasScope(me, 'answer') && (me.role === 'operator' || me.role === 'admin'));

/** Reports whether the reader may see messages to other people and have them sent again. */
export const mayOverseeDeliveries = (me: Whoami | undefined) => mayAdminister(me) || (me?.kind === 'human' && (me.role === 'operator' || me.role === 'admin'));
