import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { ErrorAlert } from '@/ui/ErrorAlert';
import type { IconName } from '@/ui/Icon';
import { IconButton } from '@/ui/IconButton';
import { Keys } from '@/ui/Keys';
import { lazyComponent } from '@/ui/lazyComponent';
import { useTellRefusal } from '@/ui/problemWords';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { showQuestion } from './queries';
import { rightsOf, type OpenTool, type Rights } from './rights';
import { snoozeTimes } from './snooze';
import { useText } from './text';
import { useSnooze } from './useSnooze';

const Dialog = lazyComponent(() => import('@/ui/Dialog').then((module) => module.Dialog));
const ToolForm = lazyComponent(() => import('./ToolForm').then((module) => module.ToolForm));
const MoreMenu = lazyComponent(() => import('./MoreMenu').then((module) => module.MoreMenu));

const extensions = ['15m', '1h', '24h'] as const;

interface Props {
  question: Question;
  /** Whether the question is the whole page. */
  page?: boolean;
  onLeave?: () => void;
}

/** Shows what the reader can do with a question besides answering it, as signs with their keys. */
export function Tools(props: Props) {
  const { data: me } = useQuery(whoamiQuery);
  const rights = rightsOf(props.question, me);
  return Object.values(rights).some(Boolean) ? <OfferedTools {...props} rights={rights} /> : null;
}

function OfferedTools({ question, page, rights, onLeave }: Props & { rights: Rights }) {
  const text = useText();
  const client = useQueryClient();
  const tellRefusal = useTellRefusal();
  const [open, setOpen] = useState<OpenTool>();
  const close = () => setOpen(undefined);
  const extend = useMutation({
    mutationFn: (by: string) => unwrap(api.POST('/v1/questions/{id}/extend', { params: { path: { id: question.id } }, body: { by } })),
    onSuccess: (next: Question) => showQuestion(client, next),
    onError: tellRefusal,
  });
  const snooze = useSnooze(question, (next) => {
    close();
    if (next.snoozed_until) onLeave?.();
  });
  const group = text.group;
  const tools: { tool: OpenTool; title: string; icon: IconName; key: string; command?: { title: string; run: () => void } }[] = [
    { tool: 'clarify', title: text.clarify, icon: 'ask', key: 'b' },
    { tool: 'discuss', title: text.discuss, icon: 'comment', key: 'm' },
    { tool: 'assign', title: text.assign, icon: 'person', key: 's' },
    { tool: 'snooze', title: text.snooze, icon: 'moon', key: 'h' },
    { tool: 'extend', title: text.extend, icon: 'clock', key: '+', command: { title: text.extendBy(text.minutes15), run: () => extend.mutate('15m') } },
  ];
  const offered = tools.filter(({ tool }) => rights[tool] && (tool !== 'extend' || question.deadline));
  useCommands([
    ...offered.map(({ tool, title, key, command }) => ({ id: tool, title, group, keys: [key], run: () => setOpen(tool), ...command })),
    ...(rights.withdraw ? [{ id: 'withdraw', title: text.withdraw, group, run: () => setOpen('withdraw') }] : []),
  ]);
  return (
    <Group gap={2} ml="auto" role="group" aria-label={text.tools}>
      {offered.map(({ tool, title, icon, key }) => <IconButton key={tool} icon={icon} label={title} keys={key} size="compact-md" onClick={() => setOpen(tool)} />)}
      <Suspense fallback={<IconButton icon="more" label={text.more} size="compact-md" disabled />}>
        <MoreMenu question={question} page={page} onWithdraw={rights.withdraw ? () => setOpen('withdraw') : undefined} />
      </Suspense>
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
    </Group>
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
