import { Button, Group, Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { isTyping } from '@/keys/listen';
import { preferences } from '@/shell/preferences';
import { Loading } from '@/ui/Loading';
import { queryClient } from '@/api/queries';
import { mayAnswer, questionQuery } from './queries';
import { useText } from './text';
import { onAsked } from './urgent';
import classes from './UrgentDialog.module.css';

const Dialog = lazyComponent(() => import('@/ui/Dialog').then((module) => module.Dialog));
const QuestionView = lazyComponent(() => import('./QuestionView').then((module) => module.QuestionView));

/** Pages that show questions themselves. */
const pagesWithQuestions = /^\/($|q\/|questions\/|approvals|sign-in)/;

/**
 * Shows a new question that stops work, unless the page itself shows questions.
 * While the reader types or has a dialog open, it shows only a notice, so that
 * it never takes the keyboard focus.
 */
export default function UrgentDialog() {
  const text = useText();
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [waiting, setWaiting] = useState<string[]>([]);
  const [open, setOpen] = useState(false);
  const [id] = waiting;
  useEffect(() => {
    const offer = async (asked: string) => {
      const question = await queryClient.query(questionQuery(asked)).catch(() => undefined);
      // The task's own page shows the question where it was asked.
      if (question && [`/tasks/${question.task_id}`, `/workflow-runs/${question.task_id}`].includes(location.pathname)) return;
      if (!question || question.status !== 'pending' || question.type === 'non_blocking' || !mayAnswer(question)) return;
      if (!isTyping(document.activeElement) && !document.querySelector('[role=dialog]')) setOpen(true);
      setWaiting((before) => (before.includes(asked) ? before : [...before, asked]));
    };
    return onAsked((asked) => {
      if (preferences().dialog && !pagesWithQuestions.test(location.pathname)) void offer(asked);
    });
  }, []);
  const { data } = useQuery({ ...questionQuery(id ?? ''), enabled: id !== undefined });
  const skip = () => {
    if (waiting.length <= 1) setOpen(false);
    setWaiting(waiting.slice(1));
  };
  const postpone = () => {
    setOpen(false);
    setWaiting([]);
  };
  if (!id || pagesWithQuestions.test(path)) return null;
  if (!open) {
    return (
      <Paper withBorder shadow="md" p="sm" className={classes.notice} role="status">
        <Text size="sm" fw={600}>{text.arrived(data?.title ?? '')}</Text>
        <Group gap="xs" mt="xs">
          <Button size="compact-sm" onClick={() => setOpen(true)}>{text.open}</Button>
          <Button size="compact-sm" variant="default" onClick={postpone}>{text.later}</Button>
        </Group>
      </Paper>
    );
  }
  return (
    <Suspense><Dialog opened onClose={postpone} title={text.urgentTitle} size="lg" closeOnClickOutside={false}>
      <Suspense fallback={<Loading />}>{data && <article><QuestionView key={data.id} question={data} onSent={skip} /></article>}</Suspense>
      <Group justify="space-between" mt="md">
        <Text size="sm" c="dimmed">{waiting.length > 1 && text.urgentMore(waiting.length - 1)}</Text>
        <Group gap="xs">
          <Button variant="default" onClick={() => { postpone(); void navigate({ to: '/questions/$id', params: { id } }); }}>{text.open}</Button>
          <Button variant="default" onClick={skip}>{text.later}</Button>
        </Group>
      </Group>
    </Dialog></Suspense>
  );
}
