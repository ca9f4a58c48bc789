import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Keys } from '@/ui/Keys';
import { lazyComponent } from '@/ui/lazyComponent';
import { api, unwrap } from '@/api/client';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { ErrorAlert } from '@/ui/ErrorAlert';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { showQuestion } from './queries';
import { snoozeTimes } from './snooze';
import { useText } from './text';
import type { Tool } from './ToolForm';

const Dialog = lazyComponent(() => import('@/ui/Dialog').then((module) => module.Dialog));
const ToolForm = lazyComponent(() => import('./ToolForm').then((module) => module.ToolForm));

type OpenTool = Tool | 'snooze' | 'extend';
const extensions = ['15m', '1h', '24h'] as const;

/** Shows what the reader can do with a question besides answering it. */
export function Tools({ question, onLeave }: { question: Question; onLeave?: () => void }) {
  const text = useText();
  const client = useQueryClient();
  const [open, setOpen] = useState<OpenTool>();
  const path = { id: question.id };
  const showResult = (next: Question) => showQuestion(client, next);
  const extend = useMutation({ mutationFn: (by: string) => unwrap(api.POST('/v1/questions/{id}/extend', { params: { path }, body: { by } })), onSuccess: showResult });
  const snooze = useMutation({
    mutationFn: (until: string | undefined) => unwrap(api.POST('/v1/questions/{id}/snooze', { params: { path }, body: until ? { until } : {} })),
    onSuccess: (next) => {
      showResult(next);
      void client.invalidateQueries({ queryKey: ['counts'] });
      setOpen(undefined);
      if (next.snoozed_until) onLeave?.();
    },
  });
  const group = text.group;
  useCommands([
    { id: 'clarify', title: text.clarify, group, keys: ['b'], run: () => setOpen('clarify') },
    { id: 'discuss', title: text.discuss, group, keys: ['m'], run: () => setOpen('discuss') },
    { id: 'assign', title: text.assign, group, keys: ['s'], run: () => setOpen('assign') },
    { id: 'snooze', title: text.snooze, group, keys: ['h'], run: () => setOpen('snooze') },
    ...(question.deadline ? [{ id: 'extend', title: text.extendBy(text.minutes15), group, keys: ['+'], run: () => extend.mutate('15m') }] : []),
    { id: 'withdraw', title: text.withdraw, group, run: () => setOpen('withdraw') },
  ]);
  const button = (tool: OpenTool, label: string) => <Button size="compact-md" variant="default" onClick={() => setOpen(tool)}>{label}</Button>;
  const close = () => setOpen(undefined);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {button('clarify', text.clarify)}
        {button('discuss', text.discuss)}
        {button('assign', text.assign)}
        {button('snooze', text.snooze)}
        {question.deadline && button('extend', text.extend)}
        {button('withdraw', text.withdraw)}
      </Group>
      <SnoozedUntil question={question} onWake={() => snooze.mutate(undefined)} />
      {extend.error && <ErrorAlert error={extend.error} />}
      <Suspense>
      {open === 'extend' && (
        <Dialog opened onClose={close} title={text.extend}>
          <Stack gap="xs">
            {extensions.map((by) => <Button key={by} variant="default" classNames={wrappingButton} onClick={() => { extend.mutate(by); close(); }}>{text.extendBy({ '15m': text.minutes15, '1h': text.hour, '24h': text.day }[by])}</Button>)}
          </Stack>
        </Dialog>
      )}
      {open === 'snooze' && (
        <Dialog opened onClose={close} title={text.snoozeTitle}>
          <SnoozeTimes deadline={question.deadline} onPick={(until) => snooze.mutate(until)} />
          {snooze.error && <ErrorAlert error={snooze.error} />}
        </Dialog>
      )}
      {open && open !== 'snooze' && open !== 'extend' && (
        <ToolForm
          key={open} tool={open} question={question} onClose={close}
          onDone={() => {
            close();
            void client.invalidateQueries({ queryKey: ['questions', 'one', question.id] });
            void client.invalidateQueries({ queryKey: ['messages'] });
            if (open === 'withdraw' || open === 'assign') onLeave?.();
          }}
        />
      )}
      </Suspense>
    </Stack>
  );
}

function SnoozeTimes({ deadline, onPick }: { deadline?: string; onPick: (until: string) => void }) {
  const text = useText();
  const time = useTime();
  const [times] = useState(() => snoozeTimes(new Date(), deadline ? new Date(deadline) : undefined));
  // Labels with a fixed hour, such as "Tonight, 18:00", get at most the day. Labels relative to now get the time.
  const exactTime = (name: string, at: number) => (name.startsWith('in') ? time.clock(at) : name === 'tonight' ? '' : time.day(at));
  const labels = { in15m: text.in15m, in1h: text.in1h, tonight: text.tonight, tomorrow: text.tomorrow, monday: text.monday };
  useCommands(times.map(({ name, at }, n) => ({ id: `snooze-${name}`, title: labels[name], group: text.snooze, keys: [String(n + 1)], run: () => onPick(at.toISOString()) })));
  return (
    <Stack gap="xs">
      {times.length === 0 && <Text size="sm">{text.snoozeNever}</Text>}
      {times.map(({ name, at }, n) => (
        <Button
          key={name} variant="default" justify="space-between" classNames={wrappingButton} onClick={() => onPick(at.toISOString())}
          rightSection={<Group gap="xs" wrap="nowrap"><Text span size="sm" c="dimmed">{exactTime(name, at.getTime())}</Text><Keys keys={String(n + 1)} /></Group>}
        >
          {labels[name]}
        </Button>
      ))}
    </Stack>
  );
}

function SnoozedUntil({ question, onWake }: { question: Question; onWake: () => void }) {
  const text = useText();
  const time = useTime();
  if (!question.snoozed_until) return null;
  return (
    <Group gap="xs">
      <Text size="sm">{text.snoozed(time.full(question.snoozed_until))}</Text>
      <Button size="compact-sm" variant="default" onClick={onWake}>{text.wake}</Button>
    </Group>
  );
}
