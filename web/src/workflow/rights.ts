import type { Whoami } from '@/api/types';

const privilegedRoles = ['operator', 'admin'];

const roleIn = (me: Whoami, project: string) => me.projects?.[project] ?? me.role ?? '';

/** Reports whether the reader may change workflows: as an operator or an admin of the project. The server decides. */
export const mayDefine = (me: Whoami | undefined, project = 'default') => me?.kind === 'human' && (privilegedRoles.includes(roleIn(me, project)) || me.scopes.includes('admin'));

/**
 * Reports whether the reader may change tools: as an operator or an admin of the workspace, because tools work for
 * every project.
 */
export const mayDefineTools = (me: Whoami | undefined) => me?.kind === 'human' && (privilegedRoles.includes(me.role ?? '') || me.scopes.includes('admin'));

/**
 * Reports whether the reader may change tasks, and start, repeat and cancel runs, in some project. The server decides.
 */
export const mayRun = (me: Whoami | undefined) =>
  me !== undefined && [me.role, ...Object.values(me.projects ?? {})].some((role) => role !== 'viewer' && role !== 'none');
