import { Button, Group, Radio, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import { useState, type SubmitEvent } from 'react';
import { serverNow } from '@/api/time';
import type { Task } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { useTime } from '@/text/time';
import { useTaskText } from './text';
import { isPaused, deferTimes } from './verb';

interface Props<T> {
  task: Task;
  onClose: () => void;
  onDone: (value: T) => void;
}

const onSubmit = (then: () => void) => (event: SubmitEvent<HTMLFormElement>) => {
  event.preventDefault();
  then();
};

/** Asks before a task and all tasks below it are cancelled. */
export function CancelDialog({ task, onClose, onDone }: Props<string>) {
  const text = useTaskText();
  const [reason, setReason] = useState('');
  return (
    <Dialog opened title={text.cancelTitle(task.title)} onClose={onClose}>
      <form onSubmit={onSubmit(() => onDone(reason.trim()))}>
        <Stack>
          <Text size="sm">{text.cancelWhat}</Text>
          <Textarea label={text.why} value={reason} onChange={(event) => setReason(event.currentTarget.value)} maxLength={2000} autosize minRows={2} data-autofocus />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{text.keep}</Button>
            <Button color="red.9" type="submit">{text.cancelTask}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/**
 * Asks what to say to the agent before its task continues. This ends a pause. If the task is not paused, its question
 * closes without an answer.
 */
export function ResumeDialog({ task, onClose, onDone }: Props<string>) {
  const text = useTaskText();
  const [words, setWords] = useState('');
  const says = isPaused(task)
    ? { title: text.handBackTitle(task.title), what: text.handBackWhat, words: text.handBackWords, yes: text.handBack }
    : { title: text.decideTitle(task.title), what: text.decideWhat, words: text.decideWords, yes: text.resume };
  return (
    <Dialog opened title={says.title} onClose={onClose}>
      <form onSubmit={onSubmit(() => onDone(words.trim()))}>
        <Stack>
          <Text size="sm">{says.what}</Text>
          <Textarea label={says.words} value={words} onChange={(event) => setWords(event.currentTarget.value)} maxLength={20_000} autosize minRows={2} data-autofocus />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{text.keep}</Button>
            <Button type="submit">{says.yes}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Asks until when to defer a task. Undefined means until a person reopens it. */
export function DeferDialog({ task, onClose, onDone }: Props<Date | undefined>) {
  const text = useTaskText();
  const times = useTime();
  const [offered] = useState(() => deferTimes(new Date()));
  const names = (['inOneHour', 'tomorrow', 'nextWeek'] as const).filter((name) => name !== 'nextWeek' || offered.nextWeek.getTime() !== offered.tomorrow.getTime());
  const [at, setAt] = useState('');
  const [wrong, setWrong] = useState(false);
  const send = () => {
    const until = new Date(at);
    if (until.getTime() > serverNow()) onDone(until);
    else setWrong(true);
  };
  return (
    <Dialog opened title={text.deferTitle(task.title)} onClose={onClose}>
      <Stack>
        {names.map((name, place) => (
          <Button key={name} variant="default" justify="space-between" classNames={wrappingButton} rightSection={<Text size="sm" c="dimmed">{name === 'inOneHour' ? times.clock(offered[name].getTime()) : times.day(offered[name].getTime())}</Text>} onClick={() => onDone(offered[name])} data-autofocus={place === 0 || undefined}>
            {text[name]}
          </Button>
        ))}
        <Button variant="default" justify="flex-start" onClick={() => onDone(undefined)}>{text.forGood}</Button>
        <form onSubmit={onSubmit(send)}>
          <Group align="flex-end" wrap="wrap">
            <TextInput type="datetime-local" label={text.at} value={at} onChange={(event) => setAt(event.currentTarget.value)} error={wrong && text.inThePast} required flex={1} miw={200} />
            <Button type="submit">{text.deferAt}</Button>
          </Group>
        </form>
      </Stack>
    </Dialog>
  );
}

export function PriorityDialog({ task, onClose, onDone }: Props<number>) {
  const text = useTaskText();
  const [priority, setPriority] = useState(String(task.priority));
  return (
    <Dialog opened title={text.setPriority} onClose={onClose}>
      <form onSubmit={onSubmit(() => onDone(Number(priority)))}>
        <Stack>
          <Radio.Group value={priority} onChange={setPriority} label={task.title}>
            <Stack gap="xs" mt="xs">
              {text.priorities.map((name, value) => <Radio key={name} value={String(value)} label={name} data-autofocus={value === task.priority || undefined} />)}
            </Stack>
          </Radio.Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{text.keep}</Button>
            <Button type="submit">{text.save}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

export function LabelsDialog({ task, onClose, onDone }: Props<string[]>) {
  const text = useTaskText();
  const [labels, setLabels] = useState(task.labels ?? []);
  return (
    <Dialog opened title={text.setLabels} onClose={onClose}>
      <form onSubmit={onSubmit(() => onDone(labels))}>
        <Stack>
          <TagsInput label={task.title} description={text.addLabel} value={labels} onChange={setLabels} maxTags={32} acceptValueOnBlur data-autofocus />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{text.keep}</Button>
            <Button type="submit">{text.save}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
