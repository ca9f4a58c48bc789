import { Alert, Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { Suspense, useCallback, useId, useMemo, useRef, useState } from 'react';
import { useCommands } from '@/keys/useCommands';
import { Confirm } from '@/settings/parts/Confirm';
import { Icon } from '@/ui/Icon';
import { lazyComponent } from '@/ui/lazyComponent';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { putWorkflow, schemaQuery, toolsQuery, useRefetch, validate, validationQuery } from './api';
import type { CodeFieldHandle } from './CodeField';
import { completeDefinition } from './complete';
import { GraphView } from './GraphView';
import { Problems } from './Problems';
import { TestPanel } from './TestPanel';
import { useText } from './text';
import type { WorkflowCheck, Workflow } from './types';
import classes from './Workflow.module.css';

const CodeField = lazyComponent(() => import('./CodeField').then((module) => module.CodeField));

/** The pause in typing after which the definition is checked, in milliseconds. */
const checkDelay = 500;

interface Props {
  /** The workflow to change. Without it, a new one is created. */
  name?: string;
  initial: string;
  onSaved: (workflow: Pick<Workflow, 'name'>) => void;
  onCancel: () => void;
}

/** The editor of a definition. It shows the problems by line and the steps as a graph. */
export function Editor({ name, initial, onSaved, onCancel }: Props) {
  const text = useText();
  const renew = useRefetch();
  const about = useId();
  const field = useRef<CodeFieldHandle>(null);
  const [source, setSource] = useState(initial);
  const [checked, setChecked] = useState<{ source: string; found: WorkflowCheck }>();
  const saved = useRef(false);
  const dirty = source !== initial;
  const leaving = useBlocker({ shouldBlockFn: () => dirty && !saved.current, enableBeforeUnload: () => dirty && !saved.current, withResolver: true });
  const check = useMutation({ mutationFn: validate, onSuccess: (found, of) => setChecked({ source: of, found }) });
  const save = useMutation({
    mutationFn: async () => {
      const found = await check.mutateAsync(source);
      if (!found.valid) return undefined;
      return putWorkflow(name ?? found.name ?? '', source);
    },
    onSuccess: async (workflow) => {
      if (!workflow) {
        field.current?.focus();
        return;
      }
      saved.current = true;
      await renew.workflows();
      notifications.show({ message: text.saved(workflow.name), color: 'teal', autoClose: 4000, closeButtonProps: { 'aria-label': text.close } });
      onSaved(workflow);
    },
  });
  useCommands([
    { id: 'validate', title: text.validate, group: text.workflows, keys: ['mod+Enter'], typing: true, run: () => check.mutate(source) },
  ]);
  const { data: begun } = useQuery(validationQuery(initial));
  const known = useMemo(() => checked ?? (begun && { source: initial, found: begun }), [checked, begun, initial]);
  const problems = useMemo(() => known?.found.problems ?? [], [known]);
  const [settled] = useDebouncedValue(source, checkDelay);
  const { data: live } = useQuery({ ...validationQuery(settled), placeholderData: keepPreviousData });
  const { data: schema } = useQuery(schemaQuery);
  const { data: tools } = useQuery(toolsQuery);
  const words = useCallback((typed: string, offset: number) => completeDefinition(typed, offset, { schema, tools: tools?.items ?? [] }), [schema, tools]);
  const [testing, setTesting] = useState(false);
  // The last graph stays while the definition is wrong.
  const [drawn, setDrawn] = useState<WorkflowCheck>();
  const newest = checked?.found.graph && checked.source === source ? checked.found : live?.graph ? live : undefined;
  if (newest && newest !== drawn) setDrawn(newest);
  return (
    <Stack gap="lg">
      <div className={classes.two} data-editor>
        <Stack gap="sm">
          <Suspense fallback={<Loading />}>
            <CodeField
              value={source} set={setSource} problems={live?.problems ?? problems} ref={field} label={text.definition} describedBy={about} words={words}
              invalid={known?.source === source && !known.found.valid}
            />
          </Suspense>
          <Text size="xs" c="dimmed" id={about}>{text.definitionAbout}</Text>
          <Group gap="xs">
            <Button onClick={() => save.mutate()} loading={save.isPending}>{text.save}</Button>
            <Button variant="default" onClick={() => check.mutate(source)} loading={check.isPending && !save.isPending}>{text.validate}</Button>
            {!testing && <Button variant="default" onClick={() => setTesting(true)}>{text.test}</Button>}
            <Button variant="subtle" onClick={onCancel}>{text.cancel}</Button>
          </Group>
          {save.error ? <ErrorAlert error={save.error} /> : check.error && <ErrorAlert error={check.error} />}
        </Stack>
        <div>
          <div role="status">
            {checked?.found.valid && <Alert color="green" icon={<Icon name="check" />} mb="md">{text.noProblems}</Alert>}
            {problems.length > 0 && <Box mb="md"><Problems problems={problems} onLine={(line, column) => field.current?.goTo(line, column)} /></Box>}
          </div>
          {drawn?.graph && <section><Title order={2} size="h5" mb="xs">{text.graph}</Title><GraphView graph={drawn.graph} label={text.graphOf(drawn.name ?? '')} /></section>}
        </div>
        {leaving.status === 'blocked' && (
          <Confirm title={text.leave} confirmLabel={text.leaveYes} run={() => { leaving.proceed(); return Promise.resolve(); }} onClose={() => leaving.reset()}>{text.leaveAbout}</Confirm>
        )}
      </div>
      {testing && <TestPanel source={source} />}
    </Stack>
  );
}
