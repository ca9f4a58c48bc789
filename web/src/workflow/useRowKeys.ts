import { useCommands } from '@/keys/useCommands';
import { nextIndex } from '@/task/focus';
import { useText } from './text';

/** Registers the keys that go through the rows of a list. Each row has one marked link. */
export function useRowKeys(): void {
  const text = useText();
  const move = (by: 1 | -1) => {
    const links = [...document.querySelectorAll<HTMLElement>('[data-row-link]')];
    const row = document.activeElement?.closest('li');
    const link = links[nextIndex(links.length, links.findIndex((each) => each.closest('li') === row), by)];
    link?.focus({ preventScroll: true });
    link?.closest('li')?.scrollIntoView({ block: 'nearest' });
  };
  useCommands([
    { id: 'row-next', title: text.nextRow, group: text.workflows, keys: ['j', 'ArrowDown'], run: () => move(1) },
    { id: 'row-previous', title: text.previousRow, group: text.workflows, keys: ['k', 'ArrowUp'], run: () => move(-1) },
  ]);
}
