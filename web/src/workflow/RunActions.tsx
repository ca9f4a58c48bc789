import { Button, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { whoamiQuery } from '@/api/queries';
import { useCommands } from '@/keys/useCommands';
import { Form } from '@/settings/parts/Form';
import { FormEnd } from '@/settings/parts/FormEnd';
import { cancelTask, taskQuery } from '@/task/api';
import { CancelDialog } from '@/task/dialogs';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { useTellRefusal } from '@/ui/problemWords';
import { retryRun, useRefetch } from './api';
import { isRunEnded } from './filters';
import { objectOf } from './inputs';
import { failedStep, mainStepsOf } from './progress';
import { RewindForm } from './RewindForm';
import { mayDefine, mayRun } from './rights';
import { useText } from './text';
import type { Run, Step } from './types';
import classes from './Workflow.module.css';

/** Lets the reader cancel a run, continue it where it ended, or send it back to a step. */
export function RunActions({ run }: { run: Run }) {
  const text = useText();
  const tellRefusal = useTellRefusal();
  const renew = useRefetch();
  const { data: me } = useQuery(whoamiQuery);
  const { data: task } = useQuery(taskQuery(run.id));
  const [asked, setAsked] = useState<'cancel' | 'retry' | 'rewind'>();
  const change = useMutation({
    mutationFn: (call: () => Promise<unknown>) => call(),
    onSuccess: () => renew.runs(),
    onError: tellRefusal,
  });
  const may = mayRun(me);
  const open = may && !isRunEnded(run.state);
  const canRetry = may && run.can_retry;
  const failed = failedStep(run);
  // A step with items has a list as its input, and takes no other one.
  const step = Array.isArray(failed?.input) ? undefined : failed;
  const steps = mainStepsOf(run);
  const back = mayDefine(me, run.project) && steps.length > 0;
  const retry = () => change.mutate(() => retryRun(run.id));
  const close = () => setAsked(undefined);
  useCommands([{ id: 'retry-run', title: text.retry, group: text.workflows, run: retry }], canRetry);
  useCommands([{ id: 'cancel-run', title: text.cancelRun, group: text.workflows, run: () => setAsked('cancel') }], open);
  useCommands([{ id: 'rewind-run', title: text.rewind, group: text.workflows, run: () => setAsked('rewind') }], back);
  return (
    <>
      {canRetry && <Button size="compact-sm" mih={32} leftSection={<Icon name="play" size={14} />} loading={change.isPending} onClick={retry}>{text.retry}</Button>}
      {canRetry && step && <Button size="compact-sm" mih={32} variant="default" onClick={() => setAsked('retry')}>{text.retryWith}</Button>}
      {back && <Button size="compact-sm" mih={32} variant="default" onClick={() => setAsked('rewind')}>{text.rewind}</Button>}
      {open && <Button size="compact-sm" mih={32} variant="default" onClick={() => setAsked('cancel')}>{text.cancelRun}</Button>}
      {asked === 'cancel' && task && <CancelDialog task={task} onClose={close} onDone={(reason) => { change.mutate(() => cancelTask(run.id, reason)); close(); }} />}
      {asked === 'rewind' && <Dialog opened onClose={close} title={text.rewind} closeOnClickOutside={false}><RewindForm run={run} steps={steps} onClose={close} /></Dialog>}
      {asked === 'retry' && step && <Dialog opened onClose={close} title={text.retryTitle(step.step)} closeOnClickOutside={false}><RetryForm run={run} step={step} onClose={close} /></Dialog>}
    </>
  );
}

/** The form for the input of the failed step, which can be changed before the retry. */
function RetryForm({ run, step, onClose }: { run: Run; step: Step; onClose: () => void }) {
  const text = useText();
  const renew = useRefetch();
  const [typed, setTyped] = useState(() => JSON.stringify(step.input ?? {}, null, 2));
  const [attempts, setAttempts] = useState(0);
  const input = objectOf(typed);
  const again = useMutation({
    mutationFn: () => retryRun(run.id, input),
    onSuccess: async () => {
      await renew.runs();
      onClose();
    },
  });
  const submit = () => {
    setAttempts((n) => n + 1);
    if (input && !again.isPending) again.mutate();
  };
  return (
    <Form form={{ attempts, submit: (event) => { event?.preventDefault(); submit(); } }}>
      <Stack>
        <Text size="sm">{text.retryAbout}</Text>
        <Textarea
          label={text.retryInput} autosize minRows={4} maxRows={20} spellCheck={false} classNames={{ input: classes.mono }} data-autofocus
          value={typed} error={attempts > 0 && !input ? text.wrong.object : undefined} onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <FormEnd submitLabel={text.retry} sending={again.isPending} error={again.error} submit={submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
