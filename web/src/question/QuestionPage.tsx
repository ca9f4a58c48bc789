import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { asProblem } from '@/api/problem';
import { neighbour } from '@/inbox/order';
import { useCommands } from '@/keys/useCommands';
import { useText as useShellText } from '@/shell/text';
import { tabTitle } from '@/shell/title';
import { BackLink } from '@/ui/BackLink';
import { Icon } from '@/ui/Icon';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { QuestionView } from './QuestionView';
import { questionQuery } from './queries';
import { useText } from './text';

/** Shows one question at an address of its own. */
export default function QuestionPage() {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const text = useText();
  const shell = useShellText();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(questionQuery(id));
  useEffect(() => {
    if (data) document.title = tabTitle(data.title);
  }, [data]);
  const next = data && neighbour(data.id, 1);
  const previous = data && neighbour(data.id, -1);
  const go = (to: string | undefined) => void (to ? navigate({ to: '/questions/$id', params: { id: to } }) : navigate({ to: '/' }));
  useCommands([
    { id: 'next', title: text.nextQuestion, group: text.group, keys: ['j'], run: () => go(next) },
    { id: 'previous', title: text.previous, group: text.group, keys: ['k'], run: () => go(previous) },
    { id: 'list', title: text.toList, group: text.group, keys: ['u', 'Escape'], run: () => go(undefined) },
  ]);
  if (error && asProblem(error).code === 'not_found') {
    return <Page title={text.noSuch}><Stack align="flex-start"><Text>{text.noSuchWhy}</Text><Link to="/">{shell.toInbox}</Link></Stack></Page>;
  }
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <Stack maw={820} mx="auto">
      <Group justify="space-between">
        <BackLink to="/">{shell.inbox}</BackLink>
        <Group gap="xs">
          <Button variant="default" size="compact-md" disabled={!previous} onClick={() => go(previous)} aria-label={text.previous}><Icon name="back" /></Button>
          <Button variant="default" size="compact-md" disabled={!next} onClick={() => go(next)} aria-label={text.nextQuestion}><Icon name="next" /></Button>
        </Group>
      </Group>
      <QuestionView key={data.id} question={data} focus page onSent={() => { if (next) go(next); }} />
    </Stack>
  );
}
