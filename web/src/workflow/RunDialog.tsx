import { Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { FormEnd } from '@/settings/parts/FormEnd';
import { Form } from '@/settings/parts/Form';
import { errorsOf } from '@/settings/parts/useForm';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { startRun, useRefetch } from './api';
import { initialOf, valuesOf, writtenOf } from './inputs';
import { useText } from './text';
import type { Input, Workflow } from './types';
import classes from './Workflow.module.css';

/** The button that starts a run, if the workflow can be started by hand. */
export function RunButton({ workflow, prominent }: { workflow: Pick<Workflow, 'name' | 'inputs' | 'triggers'>; prominent?: boolean }) {
  const text = useText();
  const [asked, setAsked] = useState(false);
  if (!workflow.triggers.some(({ type }) => type === 'manual')) return null;
  return (
    <>
      <Button size={prominent ? 'sm' : 'compact-sm'} mih={32} variant={prominent ? 'filled' : 'default'} leftSection={<Icon name="play" size={14} />} onClick={() => setAsked(true)} aria-label={text.runIt(workflow.name)}>{text.run}</Button>
      {asked && <Dialog opened onClose={() => setAsked(false)} title={text.runTitle(workflow.name)} closeOnClickOutside={false}><RunForm workflow={workflow} onClose={() => setAsked(false)} /></Dialog>}
    </>
  );
}

function RunForm({ workflow: { name, inputs }, onClose }: { workflow: Pick<Workflow, 'name' | 'inputs'>; onClose: () => void }) {
  const text = useText();
  const navigate = useNavigate();
  const renew = useRefetch();
  const [typed, setTyped] = useState(() => initialOf(inputs));
  const [attempts, setAttempts] = useState(0);
  const { values, wrong } = valuesOf(inputs, typed);
  const start = useMutation({
    mutationFn: () => startRun(name, values),
    onSuccess: async (run) => {
      void renew.runs();
      void renew.workflows();
      await navigate({ to: '/workflow-runs/$id', params: { id: run.id } });
    },
  });
  const refused = errorsOf(start.error);
  const submit = () => {
    if (start.isPending) return;
    setAttempts((n) => n + 1);
    if (Object.keys(wrong).length === 0) start.mutate();
  };
  const errorOf = ({ name: of }: Input) => {
    const fault = wrong[of];
    return (attempts > 0 && fault ? text.wrong[fault] : undefined) ?? refused[`inputs.${of}`];
  };
  return (
    <Form form={{ attempts, submit: (event) => { event?.preventDefault(); submit(); } }}>
      <Stack>
        {inputs.length === 0 && <Text size="sm">{text.runNothing}</Text>}
        {inputs.map((input, at) => (
          <Field key={input.name} input={input} value={typed[input.name] ?? ''} error={errorOf(input)} first={at === 0} set={(value) => setTyped((before) => ({ ...before, [input.name]: value }))} />
        ))}
        <FormEnd submitLabel={text.runYes} sending={start.isPending} error={start.error} submit={submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}

interface FieldProps {
  input: Input;
  value: string;
  error?: string;
  first: boolean;
  set: (value: string) => void;
}

/** The field for one input, in the form that its type needs. */
function Field({ input, value, error, first, set }: FieldProps) {
  const text = useText();
  const common = { label: input.name, description: input.description, required: input.required, error, 'data-autofocus': first || undefined };
  const choices = input.type === 'boolean' ? [{ value: 'true', label: text.yes }, { value: 'false', label: text.no }] : input.enum?.map((each) => ({ value: writtenOf(input, each), label: writtenOf(input, each) }));
  if (choices) return <Select {...common} data={choices} value={value || null} clearable={!input.required} placeholder={text.unset} onChange={(chosen) => set(chosen ?? '')} />;
  if (input.type === 'object' || input.type === 'array') {
    return <Textarea {...common} description={[input.description, text.asJSON[input.type]].filter(Boolean).join(' – ')} autosize minRows={2} maxRows={12} spellCheck={false} classNames={{ input: classes.mono }} value={value} onChange={(event) => set(event.currentTarget.value)} />;
  }
  return <TextInput {...common} autoComplete="off" inputMode={input.type === 'number' ? 'decimal' : undefined} value={value} onChange={(event) => set(event.currentTarget.value)} />;
}

/** Lists the inputs of a workflow. */
export function InputList({ inputs }: { inputs: readonly Input[] }) {
  const text = useText();
  if (inputs.length === 0) return <Text size="sm" c="dimmed">{text.noInputs}</Text>;
  return (
    <Stack component="ul" gap={4} p={0} m={0}>
      {inputs.map((input) => (
        <Group component="li" key={input.name} gap={6}>
          <Text size="sm"><code>{input.name}</code> <Text span size="sm" c="dimmed">{[input.type, input.required && text.required, input.default !== undefined && input.default !== null && `= ${writtenOf(input, input.default)}`].filter(Boolean).join(', ')}</Text>{input.description && ` – ${input.description}`}</Text>
        </Group>
      ))}
    </Stack>
  );
}
