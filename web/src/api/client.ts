import createClient, { type Middleware } from 'openapi-fetch';
import { addActionTexts } from './exact';
import { newIdempotencyKey } from './key';
import { problemOf, type Problem } from './problem';
import { fetchWithRetry } from './retry';
import type { paths } from './schema';
import { signal } from './signal';

/** Gives every POST an idempotency key, so that a repeated request takes effect once. */
const idempotencyKeys: Middleware = {
  onRequest({ request }) {
    if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', newIdempotencyKey());
  },
};

/** Adds the exact text of actions beside their values (see exact.ts). */
const actionTexts: Middleware = {
  async onResponse({ response }) {
    if (!response.headers.get('Content-Type')?.includes('json')) return undefined;
    return new Response(response.status === 204 ? null : addActionTexts(await response.text()), response);
  },
};

const signedOutRefusals = signal<[problem: Problem]>();

/** Calls the listener for every call that the server refuses because the reader is not signed in. */
export const onSignedOut = signedOutRefusals.subscribe;

export const api = createClient<paths>({ baseUrl: location.origin, fetch: fetchWithRetry });
api.use(idempotencyKeys, actionTexts);

/** Returns the result of a call. A failure is thrown as a Problem. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const problem = problemOf(error, response.status);
  if (problem.code === 'unauthenticated') signedOutRefusals.notify(problem);
  throw problem;
}
