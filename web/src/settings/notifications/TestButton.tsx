import { Button, List, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { asProblem } from '@/api/problem';
import { useText as usePartsText } from '../parts/text';
import { useText } from './text';

/** Sends a test message to the reader's own devices. */
export function TestButton() {
  const text = useText();
  const parts = usePartsText();
  const tell = (title: string, why: readonly string[] = [], color?: string) =>
    notifications.show({
      title, color, autoClose: why.length > 0 ? false : undefined, closeButtonProps: { 'aria-label': parts.close },
      message: why.length > 0 ? <List size="sm">{why.map((words) => <List.Item key={words}>{words}</List.Item>)}</List> : <Text size="sm">{text.testAbout}</Text>,
    });
  const test = useMutation({
    mutationFn: () => unwrap(api.POST('/v1/me/notifications/test', { body: { channel: 'push' } })),
    onSuccess: ({ ok, problems }) => (ok ? tell(text.testSent) : tell(text.testFailed, problems.map(({ message, hint }) => [message, hint].filter(Boolean).join(' ')), 'red')),
    onError: (error) => tell(text.testFailed, [asProblem(error).message], 'red'),
  });
  return <Button variant="default" loading={test.isPending} title={text.testAbout} onClick={() => test.mutate()}>{text.test}</Button>;
}
