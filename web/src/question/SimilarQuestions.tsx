import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Question } from '@/api/types';
import { Visible } from '@/text/Visible';
import { useText } from './text';
import type { AnswerState } from './useAnswer';
import { keyOf, type Value } from './item';

/** Shows how people answered similar questions before. None of these answers is used automatically. */
export function SimilarQuestions({ question, answer, page }: { question: Question; answer: AnswerState; page?: boolean }) {
  const text = useText();
  const { data } = useQuery({
    queryKey: ['similar', question.id],
    queryFn: () => unwrap(api.GET('/v1/questions/{id}/similar', { params: { path: { id: question.id } } })),
    staleTime: 5 * 60_000,
    enabled: question.type !== 'approval',
  });
  const past = data?.items.slice(0, 3) ?? [];
  if (past.length === 0) return null;
  return (
    <section aria-labelledby="similar">
      <Title order={page ? 2 : 3} size="h5" id="similar" mb={4}>{text.similar}</Title>
      <Stack gap={4}>
        {past.map((one) => (
          <Group key={one.text} gap="xs">
            <Text size="sm" fw={500}><Visible text={one.text} /></Text>
            <Text size="sm" c="dimmed">{text.similarTimes(one.count)} · {one.by.map((each) => each.name).join(', ')}</Text>
            <Button size="compact-xs" variant="default" aria-label={`${text.use}: ${one.text}`} onClick={() => question.items.forEach((item) => answer.change(keyOf(item), one.answers[keyOf(item)] as Value | undefined))}>{text.use}</Button>
          </Group>
        ))}
      </Stack>
    </section>
  );
}
