import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { Fragment, useState, type ReactNode } from 'react';
import { Trouble } from '@/ui/Trouble';
import { Waiting } from '@/ui/Waiting';
import { Section } from './Section';

interface Words {
  title: string;
  about: string;
  changedElsewhere: string;
  loadTheirs: string;
}

interface Props<T> {
  query: UseQueryOptions<T, Error, T, string[]>;
  words: Words;
  /** The form of what is stored; what it saved is told, so that it begins anew with that. */
  children: (begun: T, onSaved: (stored: T) => void) => ReactNode;
}

/** A part of the settings that is one form of one thing that the server keeps. */
export function Stored<T>({ query, words, children }: Props<T>) {
  const { data, error, refetch } = useQuery(query);
  if (error && data === undefined) return <Trouble error={error} again={() => void refetch()} />;
  return (
    <Section title={words.title} about={words.about}>
      {data === undefined ? <Waiting /> : <Begun stored={data} words={words}>{children}</Begun>}
    </Section>
  );
}

/** The form begins with what was stored; a change by somebody else does not wipe what is typed. */
function Begun<T>({ stored, words, children }: Omit<Props<T>, 'query'> & { stored: T }) {
  const [begun, setBegun] = useState(stored);
  const key = JSON.stringify(begun);
  return (
    <Stack>
      {key !== JSON.stringify(stored) && (
        <Alert color="orange" role="status">
          <Group justify="space-between">
            {words.changedElsewhere}
            <Button size="compact-sm" variant="default" onClick={() => setBegun(stored)}>{words.loadTheirs}</Button>
          </Group>
        </Alert>
      )}
      <Fragment key={key}>{children(begun, setBegun)}</Fragment>
    </Stack>
  );
}
