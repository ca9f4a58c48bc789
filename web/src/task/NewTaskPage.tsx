import { Button, Code, Collapse, CopyButton, Group, NativeSelect, NumberInput, SimpleGrid, Stack, TagsInput, Textarea, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type SubmitEvent } from 'react';
import { useCommands } from '@/keys/useCommands';
import { ownedKey } from '@/offline/owner';
import { asProblem } from '@/api/problem';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { createTask, taskListKey } from './api';
import { createCommand, emptyForm, specOf, taskOf, type Form } from './command';
import type { Search } from './filters';
import { useNewTaskText } from './newTaskText';
import classes from './task.module.css';
import { useTaskText } from './text';

const draftKey = () => ownedKey('newTask');

/** The form for a new task. Beside it is the command that does the same. */
export default function NewTaskPage() {
  const text = useNewTaskText();
  const words = useTaskText();
  const navigate = useNavigate();
  const client = useQueryClient();
  const search: Search = useSearch({ strict: false });
  const [form, setForm] = useState<Form>(() => ({ ...emptyForm, ...readDraft(), ...(search.parent ? { parent: search.parent } : {}) }));
  const [tried, setTried] = useState(false);
  const [more, { toggle }] = useDisclosure(search.parent !== undefined);
  const set = (part: Partial<Form>) => setForm((now) => ({ ...now, ...part }));
  useEffect(() => storeDraft(form), [form]);
  const wrongSpec = form.spec.trim() !== '' && specOf(form.spec) === undefined;
  const missing = form.title.trim() === '';
  const make = useMutation({
    mutationFn: () => createTask(taskOf(form)),
    onSuccess: (task) => {
      storeDraft(emptyForm);
      void client.invalidateQueries({ queryKey: taskListKey });
      void navigate({ to: '/tasks/$id', params: { id: task.id } });
    },
  });
  const submit = (event?: SubmitEvent<HTMLFormElement>) => {
    event?.preventDefault();
    setTried(true);
    if (!missing && !wrongSpec && !make.isPending) make.mutate();
  };
  useCommands([{ id: 'new-task-make', title: text.create, group: words.keys, keys: ['mod+Enter'], typing: true, run: () => submit() }]);
  /** Returns the server's message about a field, to show it at the field. */
  const fault = (field: string) => (make.error ? asProblem(make.error).details.problems?.find((each) => each.field === field)?.message : undefined);
  const command = createCommand(taskOf(form));
  return (
    <Page title={text.createTitle}>
      <div className={classes.page}>
        <form onSubmit={submit} noValidate>
          <Stack>
            <TextInput label={text.title} description={text.titleHint} required maxLength={200} value={form.title} onChange={(event) => set({ title: event.currentTarget.value })} error={(tried && missing && text.titleMissing) || fault('title')} autoFocus />
            <Textarea label={text.body} description={text.bodyHint} autosize minRows={4} maxRows={20} value={form.body} onChange={(event) => set({ body: event.currentTarget.value })} error={fault('body')} />
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput label={words.project} description={text.projectHint} placeholder="default" maxLength={64} value={form.project} onChange={(event) => set({ project: event.currentTarget.value })} error={fault('project')} />
              <TextInput label={words.agent} description={text.agentHint} placeholder={text.anyAgent} maxLength={64} value={form.agent} onChange={(event) => set({ agent: event.currentTarget.value })} error={fault('agent')} />
              <NativeSelect label={words.priority} value={form.priority} onChange={(event) => set({ priority: event.currentTarget.value })} data={words.priorities.map((label, value) => ({ value: String(value), label }))} />
              <TagsInput label={words.labels} value={form.labels} onChange={(labels) => set({ labels })} maxTags={32} acceptValueOnBlur error={fault('labels')} />
            </SimpleGrid>
            <Group><Button variant="default" size="compact-sm" mih={32} onClick={toggle} aria-expanded={more}>{text.moreFields}</Button></Group>
            <Collapse expanded={more}>
              <Stack>
                <SimpleGrid cols={{ base: 1, xs: 2 }}>
                  <TextInput label={text.parent} description={text.parentHint} value={form.parent} onChange={(event) => set({ parent: event.currentTarget.value })} error={fault('parent_id')} />
                  <TextInput label={text.blockedBy} description={text.blockedByHint} value={form.blockedBy} onChange={(event) => set({ blockedBy: event.currentTarget.value })} error={fault('blocked_by')} />
                  <TextInput label={text.runner} description={text.runnerHint} maxLength={64} value={form.runner} onChange={(event) => set({ runner: event.currentTarget.value })} error={fault('runner')} />
                  <NativeSelect label={words.size} value={form.size} onChange={(event) => set({ size: event.currentTarget.value })} data={[{ value: '', label: '–' }, ...Object.entries(words.sizes).map(([value, label]) => ({ value, label }))]} />
                  <TextInput type="datetime-local" label={text.deferUntil} value={form.deferUntil} onChange={(event) => set({ deferUntil: event.currentTarget.value })} error={fault('defer_until')} />
                  <NumberInput label={text.attemptsMax} placeholder="3" min={1} max={100} allowDecimal={false} hideControls value={form.attempts} onChange={(value) => set({ attempts: String(value) })} error={fault('max_attempts')} />
                </SimpleGrid>
                <Textarea label={text.spec} description={text.specHint} autosize minRows={2} value={form.spec} onChange={(event) => set({ spec: event.currentTarget.value })} error={wrongSpec && text.specWrong} classNames={{ input: classes.code }} />
              </Stack>
            </Collapse>
            {make.error && <ErrorAlert error={make.error} onRetry={() => submit()} />}
            <Group justify="flex-end"><Button type="submit" loading={make.isPending}>{text.create}</Button></Group>
          </Stack>
        </form>
        <Stack component="section" gap="xs" aria-labelledby="as-command">
          <Group justify="space-between">
            <Title order={2} size="h6" id="as-command">{text.command}</Title>
            <CopyButton value={command}>{({ copied, copy }) => <Button size="compact-sm" variant="default" onClick={copy}>{copied ? text.copied : text.copy}</Button>}</CopyButton>
          </Group>
          <Code block className={classes.command} data-command tabIndex={0}>{command}</Code>
        </Stack>
      </div>
    </Page>
  );
}

/** Returns the draft of the form, which survives a reload. */
function readDraft(): Partial<Form> {
  try {
    return JSON.parse(localStorage.getItem(draftKey()) ?? '{}') as Partial<Form>;
  } catch {
    return {};
  }
}

function storeDraft(form: Form) {
  try {
    if (JSON.stringify(form) === JSON.stringify(emptyForm)) localStorage.removeItem(draftKey());
    else localStorage.setItem(draftKey(), JSON.stringify(form));
  } catch {
    // Without storage, the draft lives as long as the page.
  }
}
