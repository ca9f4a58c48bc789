import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Task } from '@/api/types';
import { ownedKey } from '@/offline/owner';
import { useCommands } from '@/keys/useCommands';
import { Keys } from '@/ui/Keys';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { reopenTask, sendMessage, taskKey } from './api';
import { columnOf } from './filters';
import { usePageText } from './pageText';

const draftKey = (id: string) => ownedKey(`message.${id}`);

/** Returns when the agent gets a message, by the state of its task. */
export function messageTiming(task: Pick<Task, 'state' | 'runner'>): 'working' | 'suspended' | 'ready' | 'ended' | 'external' | 'blocked' {
  const column = columnOf(task.state);
  if (column === 'done') return 'ended';
  if (task.runner === 'external') return 'external';
  if (task.state === 'blocked') return 'blocked';
  return column === 'working' ? 'working' : column === 'needs_person' ? 'suspended' : 'ready';
}

/** The field for messages to the agent. A message interrupts an agent that works. A draft stays until it is sent. */
export function Composer({ task }: { task: Task }) {
  const text = usePageText();
  const client = useQueryClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const [body, setBody] = useDraft(draftKey(task.id));
  const timing = messageTiming(task);
  const send = useMutation({
    mutationFn: async () => {
      await sendMessage(task.id, body.trim());
      if (timing === 'ended') await reopenTask(task.id);
    },
    onSuccess: () => {
      setBody('');
      void client.invalidateQueries({ queryKey: taskKey(task.id) });
      field.current?.focus();
    },
  });
  const submit = () => {
    if (body.trim() !== '' && !send.isPending) send.mutate();
  };
  useCommands([
    { id: 'say', title: text.say, group: text.thread, keys: ['m'], run: () => field.current?.focus() },
    { id: 'say-send', title: text.send, group: text.thread, keys: ['mod+Enter'], typing: true, run: () => document.activeElement === field.current && submit() },
  ]);
  return (
    <Stack component="section" gap="xs" mt="md" aria-label={text.say}>
      <Textarea ref={field} label={text.say} description={text.sayHint[timing]} value={body} onChange={(event) => setBody(event.currentTarget.value)} autosize minRows={2} maxRows={12} maxLength={20_000} />
      {send.error && <ErrorAlert error={send.error} onRetry={submit} />}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">{send.isSuccess && body === '' ? text.sent : ''}</Text>
        <Group gap="xs">
          <Text span size="sm" visibleFrom="sm"><Keys keys="mod+Enter" /></Text>
          <Button onClick={submit} loading={send.isPending} disabled={body.trim() === ''}>
            {timing === 'ended' ? text.sendReopen : timing === 'working' ? text.sendInterrupt : text.send}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

/** Holds a text that survives a reload. */
function useDraft(key: string): [string, (text: string) => void] {
  const [body, setBody] = useState(() => {
    try {
      return localStorage.getItem(key) ?? '';
    } catch {
      return '';
    }
  });
  useEffect(() => {
    try {
      if (body === '') localStorage.removeItem(key);
      else localStorage.setItem(key, body);
    } catch {
      // Without storage, the text lives as long as the page.
    }
  }, [key, body]);
  return [body, setBody];
}
