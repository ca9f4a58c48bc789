// The focus goes from task to task by keys. Tasks carry their id, so that it
// is found again after a list was drawn anew.

const idOf = (element: Element | null) => element?.closest<HTMLElement>('[data-task]')?.dataset.task;

/** The task that has the focus. */
export const focusedTask = () => idOf(document.activeElement);

const linkOf = (id: string) => document.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"] [data-task-link]`);

/** Gives a task the focus, once it is there. */
export function focusTask(id: string, tries = 10): void {
  const link = linkOf(id);
  if (link) {
    link.focus({ preventScroll: true });
    link.closest('[data-task]')?.scrollIntoView({ block: 'nearest' });
  } else if (tries > 0) requestAnimationFrame(() => focusTask(id, tries - 1));
}

/** Opens the menu of the task that has the focus. */
export function openMenuOfFocused(): void {
  const id = focusedTask();
  if (id) document.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"] [data-task-menu]`)?.click();
}

/** The place after (1) or before (-1) another, within a list; the first when there is none. */
export function step(length: number, at: number, by: 1 | -1): number {
  if (length === 0) return -1;
  return at < 0 ? 0 : Math.min(length - 1, Math.max(0, at + by));
}
