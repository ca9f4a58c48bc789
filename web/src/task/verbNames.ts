import type { Task } from '@/api/types';
import type { useTaskText } from './text';
import { isPaused, type Verb } from './verb';

/** What the verbs of a task are called. A paused task is handed back; any other goes on without an answer. */
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
