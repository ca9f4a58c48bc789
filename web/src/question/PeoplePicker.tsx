import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Visible } from '@/text/Visible';
import { decidersQuery } from './queries';
import { useText } from './text';

interface Props {
  question: string;
  value: readonly string[];
  onChange: (names: readonly string[]) => void;
}

/** Chooses who shall answer: people by their names, those who may answer now first, and groups or roles in words. */
export function PeoplePicker({ question, value, onChange }: Props) {
  const text = useText();
  const { data } = useQuery(decidersQuery(question));
  const people = (data?.items ?? []).toSorted((a, b) => Number(b.may) - Number(a.may));
  const others = value.filter((name) => !people.some(({ handle }) => handle === name));
  const [words, setWords] = useState<string>();
  const toggle = (name: string) => onChange(value.includes(name) ? value.filter((each) => each !== name) : [...value, name]);
  const write = (typed: string) => {
    setWords(typed);
    onChange([...value.filter((name) => people.some(({ handle }) => handle === name)), ...typed.split(/[\s,]+/).filter((name) => name !== '')]);
  };
  return (
    <Stack gap="xs">
      <Stack gap={6} role="group" aria-label={text.assignLabel} mah={260} style={{ overflowY: 'auto' }}>
        <Text size="sm" fw={500} aria-hidden>{text.assignLabel}</Text>
        {people.map(({ handle, name, may, why }) => (
          <Checkbox key={handle} label={<Visible text={name && name !== handle ? `${name} (${handle})` : handle} />} description={may ? undefined : why} checked={value.includes(handle)} onChange={() => toggle(handle)} />
        ))}
      </Stack>
      <TextInput data-autofocus label={text.assignOthers} description={text.assignHint} value={words ?? others.join(', ')} onChange={(event) => write(event.currentTarget.value)} />
    </Stack>
  );
}
