import { bufferToBase64URLString, startAuthentication, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { api, need } from '@/api/client';
import { hashOf } from '@/api/exact';
import type { Answer, Question } from '@/api/types';
import { withAction } from '@/outbox/outbox';
import { keyOf, optionsOf } from './item';

/** What the page reads of a decision that the server prepared. */
interface Decision {
  question_id: string;
  action_hash?: string;
  answers: Record<string, unknown>;
  comment?: string;
}

/** The server prepared something else than the reader chose: nothing was signed. */
export class OtherDecision extends Error {}

/** Lets the reader's passkey sign the answer. Nothing is signed that says something else than the answer. */
export async function signAnswer(question: Question, body: Answer, action?: string): Promise<NonNullable<Answer['signature']>> {
  const { decision, options } = await need(
    api.POST('/v1/questions/{id}/decision', { params: { path: { id: question.id } }, body, bodySerializer: (all) => withAction(all, action) }),
  );
  if (!(await saysTheSame(question, body, action, JSON.parse(decision) as Decision))) throw new OtherDecision();
  const { publicKey } = options as { publicKey: PublicKeyCredentialRequestOptionsJSON };
  // The page hashes the text itself: what is signed is what it has just read.
  const challenge = bufferToBase64URLString(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(decision)));
  const credential = await startAuthentication({ optionsJSON: { ...publicKey, challenge } });
  return { decision, credential };
}

/** Whether a decision names the question, the action on the page and what the reader chose. */
export async function saysTheSame(question: Question, body: Answer, action: string | undefined, decision: Decision): Promise<boolean> {
  const hash = action === undefined ? question.action_hash : await hashOf(action);
  const given = (body.answers ?? {}) as Record<string, unknown>;
  // The server may trim what somebody wrote; what somebody picked stays as it is.
  const picked = question.items.filter((item) => item.response_type === 'approval' || item.response_type === 'boolean' || optionsOf(item).some(({ value }) => value === given[keyOf(item)]));
  return (
    decision.question_id === question.id && (decision.action_hash ?? '') === (hash ?? '') && (decision.comment ?? '') === (body.comment ?? '') &&
    picked.every((item) => decision.answers[keyOf(item)] === given[keyOf(item)])
  );
}
