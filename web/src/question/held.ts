import { onAccepted } from '@/outbox/outbox';
import { api, unwrap } from '@/api/client';
import { queryClient } from '@/api/queries';
import { signal } from '@/api/signal';
import { serverNow } from '@/api/time';
import type { Question } from '@/api/types';
import { dropDraft } from './draft';
import { showQuestion } from './queries';

// Answers that the server still holds. Until they count, their author can undo them.

export interface HeldAnswer {
  id: string;
  title: string;
  said: string;
  releaseAt: number;
}

let held: readonly HeldAnswer[] = [];
const changes = signal();
const undos = signal<[id: string]>();

export const heldAnswers = () => held;
export const onHeld = changes.subscribe;
/** Calls the listener for every question that is open again after an undo. */
export const onUndone = undos.subscribe;

function setHeld(next: readonly HeldAnswer[]) {
  held = next;
  changes.notify();
}

/** Shows an answer, and keeps its draft, for as long as the answer can be undone. */
export function holdAnswer(entry: HeldAnswer): void {
  setHeld([...held.filter((each) => each.id !== entry.id), entry]);
  setTimeout(() => {
    if (!held.includes(entry)) return;
    setHeld(held.filter((each) => each !== entry));
    dropDraft(entry.id);
  }, Math.max(0, entry.releaseAt - serverNow()));
}

/** Starts to show the answers that the reader can still undo. It drops the draft of an answer that counts at once. */
export function startHeld(): void {
  onAccepted((entry, question) => {
    if (question.held) holdAnswer({ id: question.id, title: entry.title, said: entry.said, releaseAt: Date.parse(question.held.release_at) });
    else dropDraft(entry.questionId);
  });
}

/** Undoes an answer. If that fails, the answer is shown again. */
export async function undoAnswer(entry: HeldAnswer): Promise<void> {
  setHeld(held.filter((each) => each !== entry));
  try {
    const question = (await unwrap(api.POST('/v1/questions/{id}/undo', { params: { path: { id: entry.id } } }))) as Question;
    showQuestion(queryClient, question);
    undos.notify(entry.id);
  } catch (error) {
    holdAnswer(entry);
    throw error;
  }
}
