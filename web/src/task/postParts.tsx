import { Text } from '@mantine/core';
import { useTime } from '@/text/time';
import type { Entry } from './api';
import { columnStates, type State } from './filters';
import { StateBadge } from './StateBadge';

export function EntryTime({ at }: { at: string }) {
  const times = useTime();
  return <Text span size="xs" c="dimmed" component="time" dateTime={at} title={times.full(at)}>{times.clock(at)}</Text>;
}

const states = Object.values(columnStates).flat();

/** Shows the state to which the event moved the task. */
export function NewState({ entry }: { entry: Entry }) {
  const to = states.find((state: State) => state === entry.to);
  return to && entry.from !== entry.to ? <> <StateBadge state={to} /></> : null;
}
