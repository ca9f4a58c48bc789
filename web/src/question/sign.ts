import { bufferToBase64URLString, startAuthentication, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { api, unwrap } from '@/api/client';
import { hashOf } from '@/api/exact';
import type { Answer, Question } from '@/api/types';
import { withAction } from '@/outbox/outbox';
import { keyOf, optionsOf } from './item';

/** The part of a decision that the page checks. The server prepares the decision. */
interface Decision {
  question_id: string;
  action_hash?: string;
  answers: Record<string, unknown>;
  comment?: string;
}

/** Thrown when the server prepared another decision than the reader chose. Nothing was signed. */
export class DecisionMismatch extends Error {}

/** Lets the reader's passkey sign the answer. A decision that differs from the answer is not signed. */
export async function signAnswer(question: Question, body: Answer, action?: string): Promise<NonNullable<Answer['signature']>> {
  const { decision, options } = await unwrap(
    api.POST('/v1/questions/{id}/decision', { params: { path: { id: question.id } }, body, bodySerializer: (all) => withAction(all, action) }),
  );
  if (!(await isSameDecision(question, body, action, JSON.parse(decision) as Decision))) throw new DecisionMismatch();
  const { publicKey } = options as { publicKey: PublicKeyCredentialRequestOptionsJSON };
  // The page hashes the text itself, so the signature covers exactly the text that it has just checked.
  const challenge = bufferToBase64URLString(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(decision)));
  const credential = await startAuthentication({ optionsJSON: { ...publicKey, challenge } });
  return { decision, credential };
}

/** Reports whether a decision names this question, the action on the page and the reader's choice. */
export async function isSameDecision(question: Question, body: Answer, action: string | undefined, decision: Decision): Promise<boolean> {
  const hash = action === undefined ? question.action_hash : await hashOf(action);
  const given = (body.answers ?? {}) as Record<string, unknown>;
  // The server may trim a text that the reader wrote, but not change an option that the reader picked.
  const picked = question.items.filter((item) => item.response_type === 'approval' || item.response_type === 'boolean' || optionsOf(item).some(({ value }) => value === given[keyOf(item)]));
  return (
    decision.question_id === question.id && (decision.action_hash ?? '') === (hash ?? '') && (decision.comment ?? '') === (body.comment ?? '') &&
    picked.every((item) => decision.answers[keyOf(item)] === given[keyOf(item)])
  );
}
