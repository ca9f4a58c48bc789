import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { problemOf } from '@/api/problem';

export const methodsQuery = queryOptions({
  queryKey: ['sign-in', 'methods'],
  queryFn: () => unwrap(api.GET('/v1/sign-in/methods')),
  staleTime: 5 * 60_000,
});

/** Returns the result of a call. A refusal means that this attempt failed, not that a session ended. */
export async function unwrapAttempt<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw problemOf(error, response.status);
}

/** Signs in with a one-time link, which is then used up. */
export const signInByLink = (token: string) => unwrapAttempt(api.POST('/v1/sign-in/link', { body: { token } }));

/** Asks for a mail with a link. The reply does not say whether the address is known. */
export const sendLink = (email: string) => unwrapAttempt(api.POST('/v1/sign-in/email', { body: { email } }));

/**
 * Returns the address where the sign-in at the identity provider begins. The
 * provider leads back to the sign-in page, which checks which person signed in
 * before it opens the path.
 */
export function oidcStartAddress(path: string, keepPage = false): string {
  const back = `/sign-in?${new URLSearchParams(keepPage ? { done: '1' } : { came: '1', return: path }).toString()}`;
  return `/v1/sign-in/oidc/start?${new URLSearchParams({ return: back }).toString()}`;
}
