import { SimpleGrid, Switch, Text, TextInput } from '@mantine/core';
import { Part } from './Part';
import { kinds, usualTimes, withTime, type PolicyPartProps } from './policy';
import { useText } from './text';

/** Lets the reader set the limits for deadlines of questions. */
export function Deadlines({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  return (
    <Part title={text.deadlines} about={text.deadlinesAbout}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label={text.min_timeout} description={text.min_timeoutAbout} required value={policy.min_timeout} error={errors.min_timeout} onChange={(event) => set('min_timeout', event.currentTarget.value.trim())} />
        <TextInput label={text.max_timeout} description={text.max_timeoutAbout} required value={policy.max_timeout} error={errors.max_timeout} onChange={(event) => set('max_timeout', event.currentTarget.value.trim())} />
      </SimpleGrid>
      <Switch label={text.allow_shorter} checked={policy.allow_shorter} onChange={(event) => set('allow_shorter', event.currentTarget.checked)} />
      <Switch label={text.allow_longer} description={text.allow_longerAbout} checked={policy.allow_longer} onChange={(event) => set('allow_longer', event.currentTarget.checked)} />
      <Switch label={text.allow_never} description={text.allow_neverAbout} checked={policy.allow_never} onChange={(event) => set('allow_never', event.currentTarget.checked)} />
      <Text size="sm" fw={600}>{text.defaults}</Text>
      <Text size="sm">{text.defaultsAbout}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {kinds.map((kind) => (
          <TextInput
            key={kind} label={text[kind]} placeholder={text.usual(usualTimes[kind])} value={policy.default_timeout?.[kind] ?? ''}
            error={errors[`default_timeout.${kind}`]} onChange={(event) => set('default_timeout', withTime(policy.default_timeout, kind, event.currentTarget.value.trim()))}
          />
        ))}
      </SimpleGrid>
    </Part>
  );
}
