import { Checkbox, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from '@/settings/parts/Form';
import { FormEnd } from '@/settings/parts/FormEnd';
import { rewindRun, useRefetch, workflowQuery } from './api';
import { useText } from './text';
import type { Run } from './types';

/** The form that sends a run back to one of its steps, with feedback for the step. */
export function RewindForm({ run, steps, onClose }: { run: Run; steps: readonly string[]; onClose: () => void }) {
  const text = useText();
  const renew = useRefetch();
  const { data: workflow } = useQuery(workflowQuery(run.workflow));
  const [step, setStep] = useState(steps.at(-2) ?? steps.at(-1) ?? '');
  const [feedback, setFeedback] = useState('');
  const [newest, setNewest] = useState(false);
  const [attempts, setAttempts] = useState(0);
  const back = useMutation({
    mutationFn: () => rewindRun(run.id, { step, newest, ...(feedback.trim() && { feedback: feedback.trim() }) }),
    onSuccess: async () => {
      await renew.runs();
      onClose();
    },
  });
  const submit = () => {
    setAttempts((n) => n + 1);
    if (!back.isPending) back.mutate();
  };
  return (
    <Form form={{ attempts, submit: (event) => { event?.preventDefault(); submit(); } }}>
      <Stack>
        <Text size="sm">{text.rewindAbout}</Text>
        <NativeSelect label={text.rewindStep} data={[...steps]} value={step} onChange={(event) => setStep(event.currentTarget.value)} data-autofocus />
        <Textarea label={text.feedback} description={text.feedbackAbout} autosize minRows={3} maxRows={12} value={feedback} onChange={(event) => setFeedback(event.currentTarget.value)} />
        {workflow && workflow.hash !== run.hash && <Checkbox label={text.newest} description={text.newestAbout} checked={newest} onChange={(event) => setNewest(event.currentTarget.checked)} />}
        <FormEnd submitLabel={text.rewindYes} sending={back.isPending} error={back.error} submit={submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
