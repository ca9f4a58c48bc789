import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQuery, useQueryClient, type UseQueryOptions } from '@tanstack/react-query';
import { Fragment, useState, type ReactNode } from 'react';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
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
  /** Renders the form for the stored values. The form calls onSaved with the values that it saved. */
  children: (initial: T, onSaved: (stored: T) => void) => ReactNode;
}

/** A part of the settings: one form for one thing that the server stores. */
export function StoredForm<T extends object>({ query, words, children }: Props<T>) {
  const { data, error, refetch } = useQuery(query);
  if (error && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  return (
    <Section title={words.title} about={words.about}>
      {data === undefined ? <Loading /> : <FormWithInitial first={data} query={query} words={words}>{children}</FormWithInitial>}
    </Section>
  );
}

/** Begins the form with the stored values. A change by another person does not overwrite what the reader types. */
function FormWithInitial<T extends object>({ first, query, words, children }: Props<T> & { first: T }) {
  const client = useQueryClient();
  // The value from the parent may be older than the value that was just saved, and would look like a change by another
  // person.
  const { data: stored = first } = useQuery(query);
  const [initial, setInitial] = useState(first);
  const [times, setTimes] = useState(1);
  const loadStored = () => {
    setInitial(stored);
    setTimes(times + 1);
  };
  const onSaved = (saved: T) => {
    client.setQueryData(query.queryKey, saved);
    setInitial(saved);
  };
  return (
    <Stack>
      {JSON.stringify(initial) !== JSON.stringify(stored) && (
        <Alert color="orange" role="status">
          <Group justify="space-between">
            {words.changedElsewhere}
            <Button size="compact-sm" variant="default" onClick={loadStored}>{words.loadTheirs}</Button>
          </Group>
        </Alert>
      )}
      <Fragment key={times}>{children(initial, onSaved)}</Fragment>
    </Stack>
  );
}
