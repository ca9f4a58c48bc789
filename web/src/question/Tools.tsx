import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import type { IconName } from '@/ui/Icon';
import { IconButton } from '@/ui/IconButton';
import { lazyComponent } from '@/ui/lazyComponent';
import { useTellRefusal } from '@/ui/problemWords';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { showQuestion } from './queries';
import { rightsOf, type OpenTool, type Rights } from './rights';
import { useText } from './text';

const Dialog = lazyComponent(() => import('@/ui/Dialog').then((module) => module.Dialog));
const ToolForm = lazyComponent(() => import('./ToolForm').then((module) => module.ToolForm));
const SnoozeDialog = lazyComponent(() => import('./SnoozeDialog').then((module) => module.SnoozeDialog));
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
  /** Whether the menu was opened once. It is loaded then, because few need it. */
  const [menu, setMenu] = useState(false);
  const hasMore = !page || rights.withdraw;
  const close = () => setOpen(undefined);
  const extend = useMutation({
    mutationFn: (by: string) => unwrap(api.POST('/v1/questions/{id}/extend', { params: { path: { id: question.id } }, body: { by } })),
    onSuccess: (next: Question) => showQuestion(client, next),
    onError: tellRefusal,
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
      {offered.map(({ tool, title, icon, key }) => <IconButton key={tool} icon={icon} label={title} keys={key} onClick={() => setOpen(tool)} />)}
      {hasMore && (menu ? (
        <Suspense fallback={<IconButton icon="more" label={text.more} disabled />}>
          <MoreMenu question={question} page={page} onWithdraw={rights.withdraw ? () => setOpen('withdraw') : undefined} />
        </Suspense>
      ) : <IconButton icon="more" label={text.more} aria-haspopup="menu" onClick={() => setMenu(true)} />)}
      <Suspense>
        {open === 'extend' && (
          <Dialog opened onClose={close} title={text.extend}>
            <Stack gap="xs">
              {extensions.map((by) => <Button key={by} variant="default" classNames={wrappingButton} onClick={() => { extend.mutate(by); close(); }}>{text.extendBy({ '15m': text.minutes15, '1h': text.hour, '24h': text.day }[by])}</Button>)}
            </Stack>
          </Dialog>
        )}
        {open === 'snooze' && <SnoozeDialog questions={[question]} onClose={close} onDone={() => { close(); onLeave?.(); }} />}
        {open && open !== 'snooze' && open !== 'extend' && (
          <ToolForm
            key={open} tool={open} questions={[question]} onClose={close}
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
