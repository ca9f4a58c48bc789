import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { Dialog } from '@/ui/Dialog';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Keys } from '@/ui/Keys';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { snoozeTimes } from './snooze';
import { useText } from './text';
import { useSnooze } from './useSnooze';

/** Asks until when questions shall be out of the reader's inbox. */
export function SnoozeDialog({ questions, onClose, onDone }: { questions: readonly Question[]; onClose: () => void; onDone: () => void }) {
  const text = useText();
  const snooze = useSnooze(questions, onDone);
  const [first] = questions.flatMap(({ deadline }) => deadline ?? []).sort();
  return (
    <Dialog opened onClose={onClose} title={text.snoozeTitle}>
      <SnoozeTimes deadline={first} onPick={(until) => snooze.mutate(until)} />
      {snooze.error && <ErrorAlert error={snooze.error} />}
    </Dialog>
  );
}

function SnoozeTimes({ deadline, onPick }: { deadline?: string; onPick: (until: string) => void }) {
  const text = useText();
  const time = useTime();
  const [times] = useState(() => snoozeTimes(new Date(), deadline ? new Date(deadline) : undefined));
  // Labels with a fixed hour, such as "Tonight, 18:00", get at most the day. Labels relative to now get the time.
  const exactTime = (name: string, at: number) => (name.startsWith('in') ? time.clock(at) : name === 'tonight' ? '' : time.day(at));
  const labels = { in15m: text.in15m, in1h: text.in1h, tonight: text.tonight, tomorrow: text.tomorrow, monday: text.monday };
  useCommands(times.map(({ name, at }, n) => ({ id: `snooze-${name}`, title: labels[name], group: text.snooze, keys: [String(n + 1)], run: () => onPick(at.toISOString()) })));
  return (
    <Stack gap="xs">
      {times.length === 0 && <Text size="sm">{text.snoozeNever}</Text>}
      {times.map(({ name, at }, n) => (
        <Button
          key={name} variant="default" justify="space-between" classNames={wrappingButton} onClick={() => onPick(at.toISOString())}
          rightSection={<Group gap="xs" wrap="nowrap"><Text span size="sm" c="dimmed">{exactTime(name, at.getTime())}</Text><Keys keys={String(n + 1)} /></Group>}
        >
          {labels[name]}
        </Button>
      ))}
    </Stack>
  );
}
