import { onEvent } from '@/api/live';

// Questions that were asked while the page is open. The dialog that shows them
// loads a little later than the page.

let asked: string[] = [];
const listeners = new Set<(id: string) => void>();

/** Starts to collect the questions. Call it when the page starts. */
export function startUrgent(): void {
  onEvent((event) => {
    if (event.type !== 'question.asked' || !event.question_id) return;
    if (listeners.size === 0) asked = [...asked.slice(-9), event.question_id];
    const id = event.question_id;
    listeners.forEach((listener) => listener(id));
  });
}

/** Calls the listener for every question that is asked, and for the last ten that were asked before it listened. */
export function onAsked(listener: (id: string) => void): () => void {
  asked.forEach(listener);
  asked = [];
  listeners.add(listener);
  return () => listeners.delete(listener);
}
