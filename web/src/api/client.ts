import createClient, { type Middleware } from 'openapi-fetch';
import { keepActions } from './exact';
import { newKey } from './key';
import { problemOf, type Problem } from './problem';
import { fetchAgain } from './retry';
import type { paths } from './schema';

/** Gives every POST a key, so that a repeated one does its thing once. */
const keys: Middleware = {
  onRequest({ request }) {
    if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', newKey());
  },
};

/** Keeps the exact text of actions beside their values. */
const exact: Middleware = {
  async onResponse({ response }) {
    if (!response.headers.get('Content-Type')?.includes('json')) return undefined;
    return new Response(response.status === 204 ? null : keepActions(await response.text()), response);
  },
};

const refusals = new Set<(problem: Problem) => void>();

/** Hears of every refusal for want of a sign-in. */
export function onSignedOut(listener: (problem: Problem) => void): () => void {
  refusals.add(listener);
  return () => refusals.delete(listener);
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: fetchAgain });
api.use(keys, exact);

/** The result of a call; what went wrong is thrown as a Problem. */
export async function need<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const problem = problemOf(error, response.status);
  if (problem.code === 'unauthenticated') refusals.forEach((listener) => listener(problem));
  throw problem;
}
