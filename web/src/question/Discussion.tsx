import { Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Question } from '@/api/types';
import { useTime } from '@/text/time';
import { Markdown } from '@/ui/Markdown';
import { useNow } from '@/ui/useNow';
import { actorName } from './QuestionResolution';
import { useText } from './text';

/** Shows what was written about this question: clarifications and comments. */
export function Discussion({ question, page }: { question: Question; page?: boolean }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const { data: me } = useQuery(whoamiQuery);
  const { data } = useQuery({
    queryKey: ['messages', question.task_id],
    queryFn: () => unwrap(api.GET('/v1/tasks/{id}/messages', { params: { path: { id: question.task_id }, query: { limit: 200 } } })),
  });
  const about = data?.items.filter((message) => message.question_id === question.id) ?? [];
  if (about.length === 0) return null;
  return (
    <section aria-labelledby="discussion">
      <Title order={page ? 2 : 3} size="h5" id="discussion" mb="xs">{text.thread}</Title>
      <Stack gap="xs">
        {about.map((message) => (
          <Paper key={message.id} withBorder p="xs">
            <Text size="xs" c="dimmed">{actorName(message.author, text, me?.name)} · {time.relative(message.created_at, now)}</Text>
            <Markdown text={message.body} />
          </Paper>
        ))}
      </Stack>
    </section>
  );
}
