import type { Member } from '@/api/types';

export type Role = Member['role'];

/** Every role, from least to most. */
export const roles = ['none', 'viewer', 'responder', 'operator', 'admin'] as const satisfies Role[];

export const isRole = (word: string | null): word is Role => roles.some((role) => role === word);

/** The word for a role; one that is not known stands as it is. */
export const roleWord = (words: Record<Role, string>, role: string) => (isRole(role) ? words[role] : role);
