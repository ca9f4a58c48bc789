import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Keys } from '@/ui/Keys';
import { lazyComponent } from '@/ui/lazyComponent';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { ErrorAlert } from '@/ui/ErrorAlert';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { showQuestion } from './queries';
import { rightsOf, type OpenTool, type Rights } from './rights';
import { snoozeTimes } from './snooze';
import { useText } from './text';

const Dialog = lazyComponent(() => import('@/ui/Dialog').then((module) => module.Dialog));
const ToolForm = lazyComponent(() => import('./ToolForm').then((module) => module.ToolForm));

const extensions = ['15m', '1h', '24h'] as const;

/** Shows what the reader can do with a question besides answering it. */
export function Tools({ question, onLeave }: { question: Question; onLeave?: () => void }) {
  const { data: me } = useQuery(whoamiQuery);
  const rights = rightsOf(question, me);
  return Object.values(rights).some(Boolean) ? <OfferedTools question={question} rights={rights} onLeave={onLeave} /> : null;
}

function OfferedTools({ question, rights, onLeave }: { question: Question; rights: Rights; onLeave?: () => void }) {
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
  const tools: { tool: OpenTool; title: string; key?: string; command?: { title: string; run: () => void } }[] = [
    { tool: 'clarify', title: text.clarify, key: 'b' },
    { tool: 'discuss', title: text.discuss, key: 'm' },
    { tool: 'assign', title: text.assign, key: 's' },
    { tool: 'snooze', title: text.snooze, key: 'h' },
    { tool: 'extend', title: text.extend, key: '+', command: { title: text.extendBy(text.minutes15), run: () => extend.mutate('15m') } },
    { tool: 'withdraw', title: text.withdraw },
  ];
  const offered = tools.filter(({ tool }) => rights[tool] && (tool !== 'extend' || question.deadline));
  useCommands(offered.map(({ tool, title, key, command }) => ({ id: tool, title, group, keys: key ? [key] : undefined, run: () => setOpen(tool), ...command })));
  const close = () => setOpen(undefined);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {offered.map(({ tool, title }) => <Button key={tool} size="compact-md" variant="default" onClick={() => setOpen(tool)}>{title}</Button>)}
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
