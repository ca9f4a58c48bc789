import createClient, { type Middleware } from 'openapi-fetch';
import { keepActions } from './exact';
import { newKey } from './key';
import { problemOf, type Problem } from './problem';
import { fetchAgain } from './retry';
import type { paths } from './schema';
import { signal } from './signal';

/** Gives every POST an idempotency key, so that a repeated request takes effect once. */
const keys: Middleware = {
  onRequest({ request }) {
    if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', newKey());
  },
};

/** Adds the exact text of actions beside their values (see exact.ts). */
const exact: Middleware = {
  async onResponse({ response }) {
    if (!response.headers.get('Content-Type')?.includes('json')) return undefined;
    return new Response(response.status === 204 ? null : keepActions(await response.text()), response);
  },
};

const refusals = signal<[problem: Problem]>();

/** Calls the listener for every call that the server refuses because the reader is not signed in. */
export const onSignedOut = refusals.subscribe;

export const api = createClient<paths>({ baseUrl: location.origin, fetch: fetchAgain });
api.use(keys, exact);

/** Returns the result of a call. A failure is thrown as a Problem. */
export async function need<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const problem = problemOf(error, response.status);
  if (problem.code === 'unauthenticated') refusals.notify(problem);
  throw problem;
}
