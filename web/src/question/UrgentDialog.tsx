import { Button, Group, Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState, type ReactNode } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { isTyping } from '@/keys/listen';
import { KeysWhile } from '@/keys/useCommands';
import { preferences } from '@/shell/preferences';
import { Loading } from '@/ui/Loading';
import { useDelayed } from '@/ui/useDelayed';
import { queryClient } from '@/api/queries';
import { awaitsReader, questionQuery } from './queries';
import { useText } from './text';
import { onAsked } from './urgent';
import { UndoBar } from './UndoBar';
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
      if (!question || question.status !== 'pending' || question.type === 'non_blocking' || !awaitsReader(question)) return;
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
      <Suspense fallback={<Loading />}>{data && <KeysAfterFocus id={data.id}><article><QuestionView key={data.id} question={data} onSent={skip} /></article></KeysAfterFocus>}</Suspense>
      <UndoBar onUndone={(undone) => setWaiting((before) => [undone, ...before.filter((each) => each !== undone)])} />
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

/** How long a question must be in sight before it takes a key or a press, in milliseconds. */
const readDelay = 600;

/**
 * Keeps a question that came over the page from being answered by what the reader was doing there. Each question takes
 * nothing at first. The keys work once the reader has moved the focus into the dialog.
 */
function KeysAfterFocus({ id, children }: { id: string; children: ReactNode }) {
  const text = useText();
  const [meant, setMeant] = useState(false);
  return (
    <>
      <TakesKeys key={id} meant={meant} onMeant={() => setMeant(true)}>{children}</TakesKeys>
      {!meant && <Text size="sm" c="dimmed" mt="sm">{text.urgentKeys}</Text>}
    </>
  );
}

function TakesKeys({ meant, onMeant, children }: { meant: boolean; onMeant: () => void; children: ReactNode }) {
  const inSight = useDelayed(readDelay);
  return (
    <div inert={!inSight} onFocus={onMeant} onPointerDown={onMeant} data-takes-keys={inSight && meant}>
      <KeysWhile on={inSight && meant}>{children}</KeysWhile>
    </div>
  );
}
