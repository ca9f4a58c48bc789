import { onEvent } from '@/api/live';
import { signal } from '@/api/signal';

// Questions that were asked while the page is open. The dialog that shows them
// loads a little later than the page.

let asked: string[] = [];
const asks = signal<[id: string]>();

/** Starts to collect the questions. Call it when the page starts. */
export function startUrgent(): void {
  onEvent((event) => {
    if (event.type !== 'question.asked' || !event.question_id) return;
    if (!asks.hasListeners()) asked = [...asked.slice(-9), event.question_id];
    asks.notify(event.question_id);
  });
}

/** Calls the listener for every question that is asked, and for the last ten that were asked before it listened. */
export function onAsked(listener: (id: string) => void): () => void {
  asked.forEach(listener);
  asked = [];
  return asks.subscribe(listener);
}
