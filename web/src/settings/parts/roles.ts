import type { Member } from '@/api/types';

export type Role = Member['role'];

/** Every role, from the fewest rights to the most. */
export const roles = ['none', 'viewer', 'responder', 'operator', 'admin'] as const satisfies Role[];

export const isRole = (word: string | null): word is Role => roles.some((role) => role === word);

/** Returns the word for a role. An unknown role is shown as it is. */
export const roleWord = (words: Record<Role, string>, role: string) => (isRole(role) ? words[role] : role);
