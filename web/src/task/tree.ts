import type { Task } from '@/api/types';

export interface TreeRow {
  task: Task;
  /** 1 for the tasks at the top. */
  level: number;
  children: number;
  /** Whether the parent of the task is not in the list. */
  elsewhere: boolean;
  /** The place among its siblings, from 1, and the number of siblings. */
  position: number;
  siblings: number;
}

/**
 * Lays a list out as a tree. Parents come before their children, each in the
 * order of the list. Children of folded tasks are left out.
 */
export function treeRows(tasks: readonly Task[], folded: ReadonlySet<string>): TreeRow[] {
  const listed = new Set(tasks.map((task) => task.id));
  const below = new Map<string, Task[]>();
  const top: Task[] = [];
  for (const task of tasks) {
    const siblings = task.parent_id && listed.has(task.parent_id) ? (below.get(task.parent_id) ?? []) : top;
    siblings.push(task);
    if (siblings !== top && task.parent_id) below.set(task.parent_id, siblings);
  }
  const rows: TreeRow[] = [];
  const addRows = (list: Task[], level: number) => {
    list.forEach((task, at) => {
      const children = below.get(task.id) ?? [];
      rows.push({ task, level, children: children.length, elsewhere: level === 1 && Boolean(task.parent_id), position: at + 1, siblings: list.length });
      if (!folded.has(task.id)) addRows(children, level + 1);
    });
  };
  addRows(top, 1);
  return rows;
}
