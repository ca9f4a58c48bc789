import type { ProblemDetails } from './types';

/** An error code of the server, or `offline` if no response came. */
export type Code = ProblemDetails['code'] | 'offline';
type Details = Omit<Partial<ProblemDetails>, 'code'> & { code: Code; detail: string };

/** The error of a call: why the server refused it, or why the server was not reached. */
export class Problem extends Error {
  constructor(readonly details: Details) {
    super(details.detail);
    this.name = 'Problem';
  }

  get code() {
    return this.details.code;
  }
  get status() {
    return this.details.status ?? 0;
  }
  get hint() {
    return this.details.hint;
  }
  /** The question with its resolution, if it was closed before this call. */
  get question() {
    return this.details.question;
  }
  /** Whether no response came. The server may have received the request or not. */
  get offline() {
    return this.code === 'offline';
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Turns any response that is not a result into a Problem. */
export function problemOf(body: unknown, status: number): Problem {
  if (isObject(body) && typeof body.code === 'string' && typeof body.detail === 'string') return new Problem(body as unknown as ProblemDetails);
  return new Problem({ code: 'unavailable', status, detail: `The server answered with status ${status}.` });
}

/** Returns any error as a Problem. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({ code: 'internal', detail: error instanceof Error ? error.message : String(error) });
}
