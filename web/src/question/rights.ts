import type { Question, Whoami } from '@/api/types';
import { roles, type Role } from '@/settings/parts/roles';
import { mayAnswer } from './queries';
import type { Tool } from './ToolForm';

export type OpenTool = Tool | 'snooze' | 'extend';
export type Rights = Record<OpenTool, boolean>;

const isAtLeast = (role: string | undefined, least: Role) => roles.findIndex((each) => each === role) >= roles.indexOf(least);

/** Returns what the reader may do with an open question besides answering it, by the rules of the server, which decides. */
export function rightsOf(question: Question, me: Whoami | undefined): Rights {
  const role = me?.projects?.[question.project] ?? me?.role;
  const takesPart = isAtLeast(role, 'responder');
  const answers = takesPart && mayAnswer(question);
  return { clarify: answers, snooze: answers, extend: answers, discuss: takesPart, withdraw: takesPart, assign: answers || isAtLeast(role, 'operator') };
}
