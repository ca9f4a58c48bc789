import type { Whoami } from '@/api/types';

const strong = ['operator', 'admin'];

const roleIn = (me: Whoami, project: string) => me.projects?.[project] ?? me.role ?? '';

/** Changes workflows and tools: an operator or an admin of the project. The server decides. */
export const mayDefine = (me: Whoami | undefined, project = 'default') => me?.kind === 'human' && (strong.includes(roleIn(me, project)) || me.scopes.includes('admin'));

/** Changes tools, which work for every project: an operator or an admin of the workspace. */
export const mayDefineTools = (me: Whoami | undefined) => me?.kind === 'human' && (strong.includes(me.role ?? '') || me.scopes.includes('admin'));

/** Changes tasks, and starts, repeats and cancels runs, in some project. The server decides. */
export const mayRun = (me: Whoami | undefined) =>
  me !== undefined && [me.role, ...Object.values(me.projects ?? {})].some((role) => role !== 'viewer' && role !== 'none');
