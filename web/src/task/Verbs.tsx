import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { whoamiQuery } from '@/api/queries';
import type { Task } from '@/api/types';
import { useTellRefusal } from '@/ui/problemWords';
import { mayRun } from '@/workflow/rights';
import { cancelTask, deferTask, pauseTask, reopenTask, resumeTask, taskKey, taskListKey, updateTask } from './api';
import { CancelDialog, DeferDialog, LabelsDialog, PriorityDialog, ResumeDialog } from './dialogs';
import { useTaskText } from './text';
import { isPaused, type Verb } from './verb';

interface Verbs {
  /** Runs the verb, or opens the dialog that asks for its values. */
  act: (verb: Verb, task: Task) => void;
  /** Whether the reader may change tasks at all. */
  may: boolean;
}

const Context = createContext<Verbs>({ act: () => undefined, may: false });
export const useVerbs = () => useContext(Context);

/** A verb and the call that runs it, when its values are known. */
export interface Done {
  verb: Verb;
  call: () => Promise<Task>;
}

/** Gives the tasks within it their verbs, with one dialog for all. */
export function VerbsProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ verb: Verb; task: Task }>();
  const { data: me } = useQuery(whoamiQuery);
  const change = useChange();
  const { mutate } = change;
  const act = useCallback(
    (verb: Verb, task: Task) => {
      if (verb === 'pause') mutate({ verb, call: () => pauseTask(task.id) });
      else if (verb === 'reopen') mutate({ verb, call: () => reopenTask(task.id) });
      else if (verb === 'resume' && !task.pending_question_id && !isPaused(task)) mutate({ verb, call: () => resumeTask(task.id) });
      else setAsked({ verb, task });
    },
    [mutate],
  );
  const may = mayRun(me);
  const verbs = useMemo(() => ({ act, may }), [act, may]);
  const close = () => setAsked(undefined);
  const finish = (call: () => Promise<Task>) => {
    if (asked) mutate({ verb: asked.verb, call });
    close();
  };
  return (
    <Context value={verbs}>
      {children}
      {asked?.verb === 'cancel' && <CancelDialog task={asked.task} onClose={close} onDone={(reason) => finish(() => cancelTask(asked.task.id, reason))} />}
      {asked?.verb === 'resume' && <ResumeDialog task={asked.task} onClose={close} onDone={(message) => finish(() => resumeTask(asked.task.id, message))} />}
      {asked?.verb === 'defer' && <DeferDialog task={asked.task} onClose={close} onDone={(until) => finish(() => deferTask(asked.task.id, until?.toISOString()))} />}
      {asked?.verb === 'priority' && <PriorityDialog task={asked.task} onClose={close} onDone={(priority) => finish(() => updateTask(asked.task.id, { priority }))} />}
      {asked?.verb === 'labels' && <LabelsDialog task={asked.task} onClose={close} onDone={(labels) => finish(() => updateTask(asked.task.id, { labels }))} />}
    </Context>
  );
}

/** Sends a change of a task and reports the result. */
function useChange() {
  const text = useTaskText();
  const tellRefusal = useTellRefusal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ call }: Done) => call(),
    onSuccess: (task, { verb }) => {
      client.setQueryData(taskKey(task.id), task);
      void client.invalidateQueries({ queryKey: taskKey(task.id) });
      void client.invalidateQueries({ queryKey: taskListKey });
      notifications.show({ message: `${text.did[verb]}: ${task.title}`, color: 'teal', autoClose: 4000, closeButtonProps: { 'aria-label': text.close } });
    },
    onError: tellRefusal,
  });
}
