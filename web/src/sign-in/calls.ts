import { queryOptions } from '@tanstack/react-query';
import { api, need } from '@/api/client';
import { problemOf } from '@/api/problem';

export const methodsQuery = queryOptions({
  queryKey: ['sign-in', 'methods'],
  queryFn: () => need(api.GET('/v1/sign-in/methods')),
  staleTime: 5 * 60_000,
});

/** The result of a call. A refusal here is about what was tried, not about a session that ended. */
export async function tried<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw problemOf(error, response.status);
}

/** Uses a one-time link up. */
export const signInByLink = (token: string) => tried(api.POST('/v1/sign-in/link', { body: { token } }));

/** Asks for a mail with a link. The reply does not say whether the address is known. */
export const sendLink = (email: string) => tried(api.POST('/v1/sign-in/email', { body: { email } }));

/**
 * Where the identity provider's sign-in begins. It comes back to this page,
 * which looks who came before it leads to the path.
 */
export function oidcStart(path: string, stay = false): string {
  const back = `/sign-in?${new URLSearchParams(stay ? { done: '1' } : { came: '1', return: path }).toString()}`;
  return `/v1/sign-in/oidc/start?${new URLSearchParams({ return: back }).toString()}`;
}
