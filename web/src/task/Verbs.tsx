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
  mayChange: boolean;
}

const Context = createContext<Verbs>({ act: () => undefined, mayChange: false });
export const useVerbs = () => useContext(Context);

/** A verb and the call that runs it with its values. */
export interface VerbCall {
  verb: Verb;
  call: () => Promise<Task>;
}

/** Lets the tasks among its children run verbs. All of them share one dialog. */
export function VerbsProvider({ children }: { children: ReactNode }) {
  const [dialog, setDialog] = useState<{ verb: Verb; task: Task }>();
  const { data: me } = useQuery(whoamiQuery);
  const change = useChange();
  const { mutate } = change;
  const act = useCallback(
    (verb: Verb, task: Task) => {
      if (verb === 'pause') mutate({ verb, call: () => pauseTask(task.id) });
      else if (verb === 'reopen') mutate({ verb, call: () => reopenTask(task.id) });
      else if (verb === 'resume' && !task.pending_question_id && !isPaused(task)) mutate({ verb, call: () => resumeTask(task.id) });
      else setDialog({ verb, task });
    },
    [mutate],
  );
  const mayChange = mayRun(me);
  const verbs = useMemo(() => ({ act, mayChange }), [act, mayChange]);
  const close = () => setDialog(undefined);
  const finish = (call: () => Promise<Task>) => {
    if (dialog) mutate({ verb: dialog.verb, call });
    close();
  };
  return (
    <Context value={verbs}>
      {children}
      {dialog?.verb === 'cancel' && <CancelDialog task={dialog.task} onClose={close} onDone={(reason) => finish(() => cancelTask(dialog.task.id, reason))} />}
      {dialog?.verb === 'resume' && <ResumeDialog task={dialog.task} onClose={close} onDone={(message) => finish(() => resumeTask(dialog.task.id, message))} />}
      {dialog?.verb === 'defer' && <DeferDialog task={dialog.task} onClose={close} onDone={(until) => finish(() => deferTask(dialog.task.id, until?.toISOString()))} />}
      {dialog?.verb === 'priority' && <PriorityDialog task={dialog.task} onClose={close} onDone={(priority) => finish(() => updateTask(dialog.task.id, { priority }))} />}
      {dialog?.verb === 'labels' && <LabelsDialog task={dialog.task} onClose={close} onDone={(labels) => finish(() => updateTask(dialog.task.id, { labels }))} />}
    </Context>
  );
}

/** Sends a change of a task and reports the result. */
function useChange() {
  const text = useTaskText();
  const tellRefusal = useTellRefusal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ call }: VerbCall) => call(),
    onSuccess: (task, { verb }) => {
      client.setQueryData(taskKey(task.id), task);
      void client.invalidateQueries({ queryKey: taskKey(task.id) });
      void client.invalidateQueries({ queryKey: taskListKey });
      notifications.show({ message: `${text.did[verb]}: ${task.title}`, color: 'teal', autoClose: 4000, closeButtonProps: { 'aria-label': text.close } });
    },
    onError: tellRefusal,
  });
}
