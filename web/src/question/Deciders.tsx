import { Button, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { decidersQuery } from './queries';
import { useText } from './text';

/**
 * Shows which people may answer the question, and why others may not. It asks the server when the button is pressed.
 */
export function Deciders({ question }: { question: string }) {
  const text = useText();
  const [opened, setOpened] = useState(false);
  return (
    <section aria-label={text.deciders}>
      <Button variant="subtle" size="compact-sm" onClick={() => setOpened(!opened)} aria-expanded={opened}>{text.deciders}</Button>
      {opened && <People question={question} />}
    </section>
  );
}

function People({ question }: { question: string }) {
  const text = useText();
  const { data, error, refetch } = useQuery(decidersQuery(question));
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <>
      <List size="sm" mt="xs" listStyleType="none">
        {data.items.map((person) => (
          <List.Item key={person.handle}>
            <Text span fw={500}>{person.name || person.handle}</Text>
            <Text span c="dimmed">{': '}{person.may ? text.mayDecide : person.why}</Text>
          </List.Item>
        ))}
      </List>
      <Requirements required={data.required} leastAssurance={data.least_assurance} />
    </>
  );
}

function Requirements({ required, leastAssurance }: { required: number; leastAssurance?: string }) {
  const text = useText();
  const signIn = leastAssurance === 'passkey' ? text.needsPasskey : leastAssurance === 'session' ? text.needsSession : '';
  return <Text size="sm" c="dimmed" mt="xs">{[text.needsAnswers(required), signIn].filter(Boolean).join(' ')}</Text>;
}
