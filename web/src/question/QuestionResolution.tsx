import { Alert, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import type { Actor, Question } from '@/api/types';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { ActionText } from '@/preview/Action';
import { Icon } from '@/ui/Icon';
import { useNow } from '@/ui/useNow';
import { answersText, decisionOf } from './item';
import { useText, type QuestionText } from './text';

/** Returns the name of an actor for the reader. */
export function actorName(actor: Actor | undefined, text: QuestionText, me?: string): string {
  if (!actor) return text.system;
  if (actor.kind === 'human' && actor.name && actor.name === me) return text.you;
  return actor.name || (actor.kind === 'agent' ? text.agent : text.system);
}

const icons = { answered: 'check', timed_out: 'clock', cancelled: 'undo' } as const;

/** Shows how a question ended: the person or the rule that decided, the decision, and its result. */
export function QuestionResolution({ question }: { question: Question }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const { data: me } = useQuery(whoamiQuery);
  const r = question.resolution;
  if (!r) return null;
  const when = `${time.relative(r.at, now)} (${time.full(r.at)})`;
  const decision = decisionOf(question);
  return (
    <Alert variant="light" color={r.status === 'answered' && decision !== 'rejected' ? 'green' : 'gray'} icon={<Icon name={decision === 'rejected' ? 'cross' : icons[r.status]} />} title={r.task_ended ? text.closed : text[decision ?? `status_${r.status}`]} role="status">
      <Stack gap={4}>
        <Text size="sm">{sentence(question, when, text, me?.name)}</Text>
        {r.answers && !decision && <Text fw={600}><Visible text={answersText(question, r.answers, text)} /></Text>}
        {r.comment && <Text size="sm"><Visible text={r.comment} /></Text>}
        {r.action_text !== undefined && r.action_hash !== question.action_hash && <ActionText action={r.action_text} label={text.ran} />}
        {r.outcome === 'skip' || r.outcome === 'fail' ? <Text size="sm">{text[`outcome_${r.outcome}`]}</Text> : null}
        {r.channel && r.status === 'answered' && <Text size="xs" c="dimmed">{text.channel(r.channel)}</Text>}
        {r.signed && <Text size="xs" c="dimmed">{text.signed}</Text>}
        {r.overtaken && <Text size="sm"><Visible text={text.overtaken(actorName(r.overtaken.by, text, me?.name), answersText(question, r.overtaken.answers ?? {}, text))} /></Text>}
        {r.overtaken?.comment && <Text size="sm"><Visible text={r.overtaken.comment} /></Text>}
        {r.late?.map((late) => (
          <Text size="sm" key={late.at}>
            {text.late(actorName(late.by, text, me?.name), answersText(question, late.answers, text))} {late.restarted && text.lateRestarted}
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}

function sentence(question: Question, when: string, text: QuestionText, me?: string): string {
  const r = question.resolution;
  if (!r) return '';
  const who = actorName(r.answered_by, text, me);
  switch (r.status) {
    case 'answered':
      if (r.decided_by === 'policy') return text.answeredByPolicy(when);
      return who === text.you ? text.answeredByYou(when) : text.answeredBy(who, when);
    case 'timed_out':
      return r.outcome === 'default' ? text.timedOutDefault(when) : text.timedOutOther(when);
    default:
      if (r.task_ended) return text.endedWithTask(when);
      return text.withdrawnBy(r.answered_by ? who : r.decided_by === 'agent' ? actorName(question.asked_by, text) : text.system, when);
  }
}
