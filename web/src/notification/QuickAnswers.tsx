import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Question } from '@/api/types';
import { sendAnswer } from '@/outbox/outbox';
import { answersText } from '@/question/item';
import { useText as useQuestionText } from '@/question/text';
import { Icon } from '@/ui/Icon';
import { quickAnswers, quickKey, type QuickAnswer } from './quick';
import { useNewsText } from './text';

/** Shows answers that take one press. The reader can undo them like all others. */
export function QuickAnswers({ question }: { question: Question }) {
  const text = useNewsText();
  const words = useQuestionText();
  const [sent, setSent] = useState(false);
  const [refused, setRefused] = useState('');
  const answers = quickAnswers(question, words);
  if (refused) return <Text size="sm" c="error" role="alert">{refused}</Text>;
  if (sent || question.held) return <Text size="sm" c="dimmed" role="status">{text.held}</Text>;
  if (answers.length === 0) {
    return <Button size="compact-sm" mih={32} variant="default" renderRoot={(props) => <Link to="/questions/$id" params={{ id: question.id }} {...props} />}>{text.open}</Button>;
  }
  const answer = async ({ value }: QuickAnswer) => {
    setSent(true);
    const values = { [quickKey(question)]: value };
    const entry = await sendAnswer(question, answersText(question, values, words), { answers: values, channel: 'web', undo: true });
    if (entry.state === 'refused') setRefused(entry.problem?.detail ?? '');
  };
  return (
    <Group gap="xs" role="group" aria-label={text.quick(question.title)}>
      {answers.map((each) => (
        <Button key={each.label} size="compact-sm" mih={32} variant="default" leftSection={each.recommended ? <Icon name="star" size={13} /> : undefined} onClick={() => void answer(each)} aria-label={each.recommended ? `${each.label} (${words.recommended})` : undefined}>
          {each.label}
        </Button>
      ))}
    </Group>
  );
}
