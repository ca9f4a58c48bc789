import { Badge, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { ActionText } from '@/preview/Action';
import { RiskBadge } from '@/question/Badges';
import { factsOf } from '@/question/facts';
import { holdAnswer } from '@/question/held';
import { keyOf } from '@/question/item';
import { showQuestion } from '@/question/queries';
import { useText as useQuestionText } from '@/question/text';
import { Visible } from '@/text/Visible';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useText } from './text';

type Choice = 'approve' | 'reject';

/**
 * Shows several approvals of one kind, each with its whole action and its result. One press decides all that the reader
 * has checked.
 */
export function ApprovalBatch({ questions, onClose }: { questions: Question[]; onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={text.title} size="xl">
      <Content questions={questions} onClose={onClose} />
    </Dialog>
  );
}

function Content({ questions: offered, onClose }: { questions: Question[]; onClose: () => void }) {
  const text = useText();
  const words = useQuestionText();
  const client = useQueryClient();
  // The list stays as the reader saw it, whatever happens meanwhile.
  const [questions] = useState(offered);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const decide = useMutation({
    mutationFn: (choice: Choice) => unwrap(api.POST('/v1/answers', { body: { items: questions.filter((question) => chosen.has(question.id)).map((question) => partOf(question, choice)) } })),
    onSuccess: ({ items }, choice) => {
      for (const { question, question_id: id } of items) {
        if (!question) continue;
        showQuestion(client, question);
        if (question.held) holdAnswer({ id, title: question.title, said: choice === 'approve' ? text.approved : text.rejected, releaseAt: Date.parse(question.held.release_at) });
      }
    },
  });
  const results = new Map(decide.data?.items.map((item) => [item.question_id, item]));
  const toggle = (id: string) => setChosen((before) => (before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id])));
  const all = () => setChosen(chosen.size === questions.length ? new Set() : new Set(questions.map((question) => question.id)));
  const may = chosen.size > 0 && !decide.isPending && !decide.data;
  useCommands([
    { id: 'choose-all', title: text.all, group: text.group, keys: ['*', 'x'], run: all },
    { id: 'approve', title: text.approve(chosen.size), group: text.group, keys: ['a'], run: () => may && decide.mutate('approve') },
    { id: 'reject', title: text.reject(chosen.size), group: text.group, keys: ['r'], run: () => may && decide.mutate('reject') },
  ]);
  return (
    <Stack>
      <Text size="sm">{text.intro}</Text>
      {questions.map((question) => {
        const result = results.get(question.id);
        return (
          <Stack key={question.id} gap={4}>
            <Group gap="xs">
              <Checkbox checked={chosen.has(question.id)} disabled={decide.data !== undefined} onChange={() => toggle(question.id)} label={<Visible text={question.title} />} />
              {result && <Badge tt="none" color={result.question ? 'green' : 'red'} variant="light" leftSection={<Icon name={result.question ? 'check' : 'cross'} size={12} />}>{result.question ? text.result_ok : text.result_failed}</Badge>}
            </Group>
            <Group gap={6}>
              <RiskBadge risk={question.risk} />
              <Text size="xs" c="dimmed"><Visible text={factsOf(question, words)} /></Text>
            </Group>
            {result?.problem && <Text size="sm" c="error">{result.problem.detail}</Text>}
            {question.action_text !== undefined && <ActionText action={question.action_text} label={question.title} />}
          </Stack>
        );
      })}
      {decide.error && <ErrorAlert error={decide.error} />}
      <Group justify="flex-end">
        {decide.data ? <Button onClick={onClose}>{text.close}</Button> : (
          <>
            <Button variant="subtle" onClick={all}>{chosen.size === questions.length ? text.none : text.all}</Button>
            <Button variant="default" disabled={!may} onClick={() => decide.mutate('reject')}>{text.reject(chosen.size)}</Button>
            <Button color="#1d6b31" disabled={!may} loading={decide.isPending} onClick={() => decide.mutate('approve')}>{text.approve(chosen.size)}</Button>
          </>
        )}
      </Group>
    </Stack>
  );
}

function partOf(question: Question, choice: Choice) {
  const [item] = question.items;
  return {
    question_id: question.id, answers: { [item ? keyOf(item) : '']: choice }, channel: 'web', undo: true,
    ...(question.action_hash ? { action_hash: question.action_hash } : {}),
  };
}
