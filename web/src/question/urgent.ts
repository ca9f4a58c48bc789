import { onEvent } from '@/api/live';

// Questions that were asked while the page is open, for the dialog, which is
// loaded a little later than the page.

let asked: string[] = [];
const listeners = new Set<(id: string) => void>();

/** Listens from the first moment on. */
export function startUrgent(): void {
  onEvent((event) => {
    if (event.type !== 'question.asked' || !event.question_id) return;
    if (listeners.size === 0) asked = [...asked.slice(-9), event.question_id];
    const id = event.question_id;
    listeners.forEach((listener) => listener(id));
  });
}

/** Hears of every question that is asked, also of those before it listened. */
export function onAsked(listener: (id: string) => void): () => void {
  asked.forEach(listener);
  asked = [];
  listeners.add(listener);
  return () => listeners.delete(listener);
}
