import { Group, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useText } from './text';

interface Props {
  value: string;
  set: (value: string) => void;
  error?: string;
}

const offered = ['8h', '1d', '7d', '30d', '90d', '365d', 'never'];

/** Lets the reader choose how long something is valid. "never" means until a person revokes it. */
export function Expiry({ value, set, error }: Props) {
  const text = useText();
  const [own, setOwn] = useState(!offered.includes(value));
  const label = (each: string) => {
    if (each === 'never') return text.untilRevoked;
    if (each === '365d') return text.forYear;
    return each.endsWith('h') ? text.forHours(Number.parseInt(each)) : text.forDays(Number.parseInt(each));
  };
  return (
    <Group align="flex-start" grow wrap="wrap" preventGrowOverflow={false}>
      <Select
        label={text.expiry}
        allowDeselect={false}
        value={own ? 'other' : value}
        error={own ? undefined : error}
        data={[...offered.map((each) => ({ value: each, label: label(each) })), { value: 'other', label: text.otherTime }]}
        onChange={(chosen) => {
          setOwn(chosen === 'other');
          if (chosen) set(chosen === 'other' ? '' : chosen);
        }}
      />
      {own && <TextInput label={text.howLong} placeholder="36h, 10d" value={value} error={error} onChange={(event) => set(event.currentTarget.value.trim())} />}
    </Group>
  );
}

