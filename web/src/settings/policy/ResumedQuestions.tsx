import { SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Part } from './Part';
import { readReminders, resumedKinds, usualRemindEvery, usualReminders, withTime, writeReminders, type PolicyPartProps } from './policy';
import { useText } from './text';

/** Lets the reader set how long the questions of stopped sessions wait, and when people are reminded of them. */
export function ResumedQuestions({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  return (
    <Part title={text.resumed} about={text.resumedAbout}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {resumedKinds.map((kind) => (
          <TextInput
            key={kind} label={text.ofResumed(text[kind])} placeholder={text.usual('never')} value={policy.resumed_timeout?.[kind] ?? ''}
            error={errors[`resumed_timeout.${kind}`]} onChange={(event) => set('resumed_timeout', withTime(policy.resumed_timeout, kind, event.currentTarget.value.trim()))}
          />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Reminders policy={policy} set={set} errors={errors} />
        <TextInput
          label={text.remind_every} description={text.remind_everyAbout} placeholder={text.usual(usualRemindEvery)} value={policy.remind_every ?? ''}
          error={errors.remind_every} onChange={(event) => set('remind_every', event.currentTarget.value.trim() || undefined)}
        />
      </SimpleGrid>
    </Part>
  );
}

/** The field for the list of reminders. It keeps the text as typed, even a comma at the end, which adds no time yet. */
function Reminders({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  const stored = writeReminders(policy.reminders);
  const [written, setWritten] = useState(stored);
  const shown = writeReminders(readReminders(written)) === stored ? written : stored;
  const write = (value: string) => {
    setWritten(value);
    set('reminders', readReminders(value));
  };
  return (
    <TextInput
      label={text.reminders} description={text.remindersAbout} placeholder={text.usual(usualReminders)} value={shown}
      error={errors.reminders} onChange={(event) => write(event.currentTarget.value)}
    />
  );
}
