import { Checkbox, Radio, SegmentedControl, Select, Stack, Text, Textarea, TextInput, Group } from '@mantine/core';
import { Form } from '@/settings/parts/Form';
import { FormEnd } from '@/settings/parts/FormEnd';
import { useForm } from '@/settings/parts/useForm';
import { Dialog } from '@/ui/Dialog';
import { putTool, useRefetch } from './api';
import { useText } from './text';
import { definitionOf, formOf, faultsOf, type ToolForm, type ToolKind } from './tool';
import type { NamedTool } from './types';
import classes from './Workflow.module.css';

/** The dialog that defines a tool, or changes one. */
export function ToolDialog({ tool, onClose }: { tool?: NamedTool; onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={tool ? text.editTool(tool.name) : text.addTool} size="lg" closeOnClickOutside={false}>
      <ToolFields tool={tool} onClose={onClose} />
    </Dialog>
  );
}

const kinds: ToolKind[] = ['agent', 'command', 'server', 'json'];

function ToolFields({ tool, onClose }: { tool?: NamedTool; onClose: () => void }) {
  const text = useText();
  const renew = useRefetch();
  const words = { name: text.nameWrong, needed: text.wrong.needed, json: text.wrong.json, object: text.wrong.object, pairs: text.pairsWrong };
  const form = useForm({
    initial: formOf(tool),
    check: (values) => Object.fromEntries(Object.entries(faultsOf(values)).map(([field, wrong]) => [field, words[wrong]])),
    save: (values) => putTool(values.name, definitionOf(values)),
    onSaved: () => {
      void renew.tools();
      onClose();
    },
  });
  const { values, set, setValues } = form;
  const choose = (kind: ToolKind) => setValues((before) => ({ ...before, kind, ...(kind === 'json' && !before.json ? { json: JSON.stringify(definitionOf(before), null, 2) } : {}) }));
  return (
    <Form form={form}>
      <Stack>
        {!tool && <TextInput label={text.name} description={text.nameAbout} required data-autofocus autoComplete="off" value={values.name} error={form.errors.name} onChange={(event) => set('name', event.currentTarget.value.trim())} />}
        <Radio.Group label={text.kind} value={values.kind} onChange={choose}>
          <Group mt={6} gap="md">{kinds.map((kind) => <Radio key={kind} value={kind} label={text.kindChoice[kind]} />)}</Group>
        </Radio.Group>
        {values.kind !== 'json' && <TextInput label={text.description} value={values.description} onChange={(event) => set('description', event.currentTarget.value)} />}
        {values.kind === 'agent' && <AgentFields form={form} />}
        {values.kind === 'command' && <Lines label={text.command} about={text.commandAbout} value={values.command} error={form.errors.command} set={(value) => set('command', value)} required />}
        {values.kind === 'server' && <ServerFields form={form} />}
        {(values.kind === 'agent' || values.kind === 'command') && (
          <>
            <Lines label={text.schema} about={text.schemaAbout} value={values.schema} error={form.errors.schema} set={(value) => set('schema', value)} />
            <TextInput label={text.timeout} description={text.timeoutAbout} value={values.timeout} error={form.errors.timeout} onChange={(event) => set('timeout', event.currentTarget.value.trim())} />
            <Checkbox label={text.isolated} description={text.isolatedAbout} checked={values.isolated} onChange={(event) => set('isolated', event.currentTarget.checked)} />
          </>
        )}
        {values.kind === 'json' && <Lines label={text.json} value={values.json} error={form.errors.json} set={(value) => set('json', value)} rows={8} required />}
        <FormEnd submitLabel={text.save} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}

interface Fields {
  form: { values: ToolForm; errors: Partial<Record<string, string>>; set: <K extends keyof ToolForm>(key: K, value: ToolForm[K]) => void };
}

function AgentFields({ form: { values, errors, set } }: Fields) {
  const text = useText();
  return (
    <>
      <Textarea label={text.prompt} description={text.promptAbout} required autosize minRows={4} maxRows={16} value={values.prompt} error={errors.prompt ?? errors['agent.prompt']} onChange={(event) => set('prompt', event.currentTarget.value)} />
      <TextInput label={text.runner} description={text.runnerAbout} value={values.runner} error={errors['agent.runner']} onChange={(event) => set('runner', event.currentTarget.value.trim())} />
      <Group grow align="flex-start">
        <TextInput label={text.agent} value={values.agent} error={errors['agent.agent']} onChange={(event) => set('agent', event.currentTarget.value)} />
        <Select label={text.size} allowDeselect={false} value={values.size} data={(['', 'small', 'medium', 'large'] as const).map((size) => ({ value: size, label: text.sizes[size] }))} onChange={(size) => set('size', size ?? '')} />
      </Group>
    </>
  );
}

function ServerFields({ form: { values, errors, set } }: Fields) {
  const text = useText();
  const hidden = values.headers.includes('•••') || values.env.includes('•••');
  return (
    <>
      <div>
        <Text size="sm" fw={500} mb={4} id="server-way">{text.serverWay}</Text>
        <SegmentedControl fullWidth orientation="vertical" classNames={{ label: classes.whole }} aria-labelledby="server-way" value={values.way} onChange={(way) => set('way', way)} data={(['url', 'command'] as const).map((way) => ({ value: way, label: text.serverWays[way] }))} />
      </div>
      {values.way === 'url' && <TextInput label={text.url} type="url" required placeholder="https://…" value={values.url} error={errors.url ?? errors['server.url']} onChange={(event) => set('url', event.currentTarget.value)} />}
      {values.way === 'url' && <Lines label={text.headers} about={text.pairsAbout} value={values.headers} error={errors.headers} set={(value) => set('headers', value)} />}
      {values.way === 'command' && <Lines label={text.command} about={text.commandAbout} value={values.command} error={errors.command} set={(value) => set('command', value)} required />}
      {values.way === 'command' && <Lines label={text.env} about={text.pairsAbout} value={values.env} error={errors.env} set={(value) => set('env', value)} />}
      {hidden && <Text size="sm">{text.hiddenAbout}</Text>}
    </>
  );
}

function Lines({ label, about, value, error, set, rows = 2, required }: { label: string; about?: string; value: string; error?: string; set: (value: string) => void; rows?: number; required?: boolean }) {
  return <Textarea label={label} description={about} required={required} error={error} autosize minRows={rows} maxRows={16} spellCheck={false} classNames={{ input: classes.mono }} value={value} onChange={(event) => set(event.currentTarget.value)} />;
}
