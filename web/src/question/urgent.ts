import { onEvent } from '@/api/live';
import { signal } from '@/api/signal';

// Questions that were asked while the page is open. The dialog that shows them
// loads a little later than the page.

let earlierIds: string[] = [];
const questions = signal<[id: string]>();

/** Starts to collect the questions. Call it when the page starts. */
export function startUrgent(): void {
  onEvent((event) => {
    if (event.type !== 'question.asked' || !event.question_id) return;
    if (!questions.hasListeners()) earlierIds = [...earlierIds.slice(-9), event.question_id];
    questions.notify(event.question_id);
  });
}

/** Calls the listener for every question that is asked, and for the last ten that were asked before it listened. */
export function onAsked(listener: (id: string) => void): () => void {
  earlierIds.forEach(listener);
  earlierIds = [];
  return questions.subscribe(listener);
}
