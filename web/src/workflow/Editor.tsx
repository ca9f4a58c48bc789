import { Alert, Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useId, useMemo, useRef, useState } from 'react';
import { useCommands } from '@/keys/useCommands';
import { Confirm } from '@/settings/parts/Confirm';
import { Icon } from '@/ui/Icon';
import { Trouble } from '@/ui/Trouble';
import { putWorkflow, useRenew, validate, validationQuery, type Validation, type Workflow } from './api';
import { GraphView } from './GraphView';
import { Problems } from './Problems';
import { marksOf, SourceField } from './Source';
import { useText } from './text';
import classes from './Workflow.module.css';

interface Props {
  /** The workflow that is changed; without one it is a new one. */
  name?: string;
  initial: string;
  onSaved: (workflow: Pick<Workflow, 'name'>) => void;
  onCancel: () => void;
}

/** A definition to write, with what is wrong with it by line and what it does as a graph. */
export function Editor({ name, initial, onSaved, onCancel }: Props) {
  const text = useText();
  const renew = useRenew();
  const about = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [source, setSource] = useState(initial);
  const [checked, setChecked] = useState<{ source: string; found: Validation }>();
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
        area.current?.focus();
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
  const marks = useMemo(() => marksOf(known?.source === source ? problems : []), [known, source, problems]);
  const toLine = (line: number, column: number) => {
    const field = area.current;
    if (!field) return;
    const at = source.split('\n').slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    field.focus();
    field.setSelectionRange(at + Math.max(0, column - 1), at + Math.max(0, column - 1));
    field.scrollTop = Math.max(0, (line - 6) * 20);
  };
  const graph = known?.found.graph;
  return (
    <div className={classes.two} data-editor>
      <Stack gap="sm">
        <SourceField value={source} set={setSource} marks={marks} ref={area} describedBy={about} invalid={known?.source === source && !known.found.valid} />
        <Text size="xs" c="dimmed" id={about}>{text.definitionAbout}</Text>
        <Group gap="xs">
          <Button onClick={() => save.mutate()} loading={save.isPending}>{text.save}</Button>
          <Button variant="default" onClick={() => check.mutate(source)} loading={check.isPending && !save.isPending}>{text.validate}</Button>
          <Button variant="subtle" onClick={onCancel}>{text.cancel}</Button>
        </Group>
        {save.error ? <Trouble error={save.error} /> : check.error && <Trouble error={check.error} />}
      </Stack>
      <div>
        <div role="status">
          {checked?.found.valid && <Alert color="green" icon={<Icon name="check" />} mb="md">{text.noProblems}</Alert>}
          {problems.length > 0 && <Box mb="md"><Problems problems={problems} onLine={toLine} /></Box>}
        </div>
        {graph && <section><Title order={2} size="h5" mb="xs">{text.graph}</Title><GraphView graph={graph} label={text.graphOf(known.found.name ?? '')} /></section>}
      </div>
      {leaving.status === 'blocked' && (
        <Confirm title={text.leave} yes={text.leaveYes} run={() => { leaving.proceed(); return Promise.resolve(); }} onClose={() => leaving.reset()}>{text.leaveAbout}</Confirm>
      )}
    </div>
  );
}
