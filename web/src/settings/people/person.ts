import type { Member, MemberChange } from '@/api/types';
import { isName } from '../parts/name';
import { isRole, type Role } from '../parts/roles';
import type { Errors } from '../parts/useForm';

export interface PersonValues {
  handle: string;
  name: string;
  email: string;
  role: Role;
  groups: string[];
  projects: { project: string; role: Role }[];
}

export const emptyPerson: PersonValues = { handle: '', name: '', email: '', role: 'responder', groups: [], projects: [] };

export const valuesOf = (member: Member): PersonValues => ({
  handle: member.handle, name: member.name ?? '', email: member.email ?? '', role: member.role, groups: member.groups ?? [],
  projects: Object.entries(member.projects ?? {}).map(([project, role]) => ({ project, role: isRole(role) ? role : 'viewer' })),
});

interface Words {
  needed: string;
  tooLong: (most: number) => string;
  handleWrong: string;
  emailWrong: string;
  groupNameWrong: string;
  projectTwice: string;
}

export const isGroupName = (text: string) => text.length > 0 && text.length <= 64 && !/[,\r\n\t]/.test(text) && text.trim() === text;

/** Checks a person by the server's rules. The handle of an invitation may come from the e-mail address. */
export function checkPerson(values: PersonValues, words: Words, invitation = false): Errors {
  const errors: Errors = {};
  const email = values.email.trim();
  if (values.handle === '' && !(invitation && email !== '')) errors.handle = words.needed;
  if (values.handle !== '' && !isName(values.handle)) errors.handle = words.handleWrong;
  if (values.name.length > 100) errors.name = words.tooLong(100);
  if (email !== '' && (!/^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+$/.test(email) || email.length > 254)) errors.email = words.emailWrong;
  if (values.groups.some((group) => !isGroupName(group))) errors.groups = words.groupNameWrong;
  if (values.groups.length > 50) errors.groups = words.tooLong(50);
  values.projects.forEach(({ project }, at) => {
    if (project === '') errors[`projects[${at}]`] = words.needed;
    else if (!isName(project)) errors[`projects[${at}]`] = words.handleWrong;
    else if (values.projects.findIndex((other) => other.project === project) !== at) errors[`projects[${at}]`] = words.projectTwice;
  });
  return errors;
}

/** An admin is an admin in every project, so other roles in projects would mean nothing. */
const projectsOf = ({ role, projects }: PersonValues) => (role === 'admin' ? {} : Object.fromEntries(projects.map((each) => [each.project, each.role])));

/** Returns the request for a new person or an invitation, without the empty fields. */
export function newPerson(values: PersonValues) {
  const { handle, name, email, role, groups } = values;
  const projects = projectsOf(values);
  return {
    role,
    ...(handle ? { handle } : {}), ...(name.trim() ? { name: name.trim() } : {}), ...(email.trim() ? { email: email.trim() } : {}),
    ...(groups.length > 0 ? { groups } : {}), ...(Object.keys(projects).length > 0 ? { projects } : {}),
  };
}

/** Returns the changes from the stored member to the values. */
export function changeOf(member: Member, values: PersonValues): MemberChange {
  const change: MemberChange = {};
  const projects = projectsOf(values);
  const sorted = (entries: Record<string, string>) => JSON.stringify(Object.entries(entries).sort());
  if (values.name.trim() !== (member.name ?? '')) change.name = values.name.trim();
  if (values.email.trim() !== (member.email ?? '')) change.email = values.email.trim();
  if (values.role !== member.role) change.role = values.role;
  if (JSON.stringify([...values.groups].sort()) !== JSON.stringify([...(member.groups ?? [])].sort())) change.groups = values.groups;
  if (sorted(projects) !== sorted(member.projects ?? {})) change.projects = projects;
  return change;
}
