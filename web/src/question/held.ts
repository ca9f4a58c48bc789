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
  /** The questions that were answered together. */
  ids: readonly string[];
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

/** Shows an answer, and keeps its draft, for as long as the answer can be undone. It takes the place of earlier answers to the same questions. */
export function holdAnswer(entry: HeldAnswer): void {
  const earlier = held.map((each) => ({ ...each, ids: each.ids.filter((id) => !entry.ids.includes(id)) }));
  setHeld([...earlier.filter(({ ids }) => ids.length > 0), entry]);
  setTimeout(() => {
    const due = held.filter(({ releaseAt }) => releaseAt <= entry.releaseAt);
    if (due.length === 0) return;
    setHeld(held.filter((each) => !due.includes(each)));
    due.forEach(({ ids }) => ids.forEach(dropDraft));
  }, Math.max(0, entry.releaseAt - serverNow()));
}

/** Starts to show the answers that the reader can still undo. It drops the draft of an answer that counts at once. */
export function startHeld(): void {
  onAccepted((entry, question) => {
    if (question.held) holdAnswer({ ids: [question.id], title: entry.title, said: entry.said, releaseAt: Date.parse(question.held.release_at) });
    else dropDraft(entry.questionId);
  });
}

/** Undoes an answer to one question, or to several. Those that cannot be undone are shown again, and the first error is thrown. */
export async function undoAnswer(entry: HeldAnswer): Promise<void> {
  setHeld(held.filter((each) => each !== entry));
  const results = await Promise.allSettled(entry.ids.map(undoOne));
  const left = entry.ids.filter((_, at) => results[at]?.status === 'rejected');
  if (left.length === 0) return;
  holdAnswer({ ...entry, ids: left });
  throw results.find((result) => result.status === 'rejected')?.reason;
}

async function undoOne(id: string): Promise<void> {
  const question = (await unwrap(api.POST('/v1/questions/{id}/undo', { params: { path: { id } } }))) as Question;
  showQuestion(queryClient, question);
  undos.notify(id);
}
