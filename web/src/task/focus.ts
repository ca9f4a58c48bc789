// Keys move the focus from task to task. Each task carries its id, so that it
// is found again after the list was rendered again.

const idOf = (element: Element | null) => element?.closest<HTMLElement>('[data-task]')?.dataset.task;

/** Returns the id of the task that has the focus. */
export const focusedTask = () => idOf(document.activeElement);

const linkOf = (id: string) => document.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"] [data-task-link]`);

/** Gives a task the focus when it is rendered. It tries for ten frames. */
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

/**
 * Returns the index after (1) or before (-1) `at` in a list, within its bounds.
 * Returns 0 if `at` is negative, and -1 if the list is empty.
 */
export function nextIndex(length: number, at: number, by: 1 | -1): number {
  if (length === 0) return -1;
  return at < 0 ? 0 : Math.min(length - 1, Math.max(0, at + by));
}
