import { useCommands } from '@/keys/useCommands';
import { focusedTask, openMenuOfFocused, nextIndex } from './focus';
import { useTaskText } from './text';

interface Options {
  /** Returns the ids of the tasks in the order of the keys. It is called at each key press. */
  ids: () => readonly string[];
  go: (id: string, at: number) => void;
  /** On a board, moves to the next (1) or the previous (-1) column. */
  moveColumn?: (by: 1 | -1) => void;
}

/** Registers the keys that move the focus from task to task, in every view. */
export function useTaskKeys({ ids, go, moveColumn }: Options): void {
  const text = useTaskText();
  const move = (by: 1 | -1) => {
    const list = ids();
    const at = nextIndex(list.length, list.indexOf(focusedTask() ?? ''), by);
    const id = list[at];
    if (id) go(id, at);
  };
  useCommands([
    { id: 'task-next', title: text.next, group: text.keys, keys: ['j', 'ArrowDown'], run: () => move(1) },
    { id: 'task-previous', title: text.previous, group: text.keys, keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { id: 'task-menu', title: text.openMenu, group: text.keys, keys: ['.'], run: openMenuOfFocused },
  ]);
  useCommands(
    [
      { id: 'column-left', title: text.columnLeft, group: text.keys, keys: ['h', 'ArrowLeft'], run: () => moveColumn?.(-1) },
      { id: 'column-right', title: text.columnRight, group: text.keys, keys: ['l', 'ArrowRight'], run: () => moveColumn?.(1) },
    ],
    moveColumn !== undefined,
  );
}
