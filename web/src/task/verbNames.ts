import type { Task } from '@/api/types';
import type { useTaskText } from './text';
import { isPaused, type Verb } from './verb';

/** Returns the names of a task's verbs. To resume a paused task is called handing it back. */
export function verbNames(text: ReturnType<typeof useTaskText>, task: Task): Record<Verb, string> {
  return {
    pause: text.pause,
    resume: isPaused(task) ? text.handBack : text.resume,
    defer: text.defer,
    reopen: text.reopen,
    priority: text.setPriority,
    labels: text.setLabels,
    cancel: text.cancel,
  };
}
