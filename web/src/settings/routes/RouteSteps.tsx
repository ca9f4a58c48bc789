import { Button, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { channelName, kindName, useText as useDeliveryText, type SentType } from '@/delivery/text';
import { Icon } from '@/ui/Icon';
import type { Errors } from '../parts/useForm';
import { channelsQuery } from '../queries';
import { moveStep, newStep, type Step } from './route';
import classes from './RouteSteps.module.css';
import { useText } from './text';

interface Props {
  type: SentType;
  steps: Step[];
  set: (steps: Step[]) => void;
  errors: Errors;
}

/** Shows the steps of the route for one type of question. */
export function RouteSteps({ type, steps, set, errors }: Props) {
  const text = useText();
  const words = useDeliveryText();
  const name = words[`type_${type}`];
  const change = (at: number, step: Partial<Step>) => set(steps.map((each, place) => (place === at ? { ...each, ...step } : each)));
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <div>
        <Title order={3} size="h5">{name}</Title>
        <Text size="sm" c="dimmed">{text[`typeAbout_${type}`]}</Text>
      </div>
      {steps.length === 0 && <Text size="sm">{text.none}</Text>}
      {steps.length > 0 && (
        <ol className={classes.steps} aria-label={text.steps(name)}>
          {steps.map((step, at) => (
            <li key={step.key} className={classes.step}>
              <Fields
                step={step} change={(more) => change(at, more)}
                errors={{ after: errors[`${type}[${at}].after`], channel: errors[`${type}[${at}].channel`] }}
              />
              <Group gap={4} className={classes.moves}>
                <Small icon="back" turned label={text.earlier(at + 1)} disabled={at === 0} run={() => set(moveStep(steps, at, -1))} />
                <Small icon="next" turned label={text.later(at + 1)} disabled={at === steps.length - 1} run={() => set(moveStep(steps, at, 1))} />
                <Small icon="cross" label={text.remove(at + 1)} run={() => set(steps.filter((_, place) => place !== at))} />
              </Group>
            </li>
          ))}
        </ol>
      )}
      <Group><Button variant="default" size="compact-sm" leftSection={<Icon name="plus" size={14} />} aria-label={text.addFor(name)} onClick={() => set([...steps, newStep('push')])}>{text.add}</Button></Group>
    </Stack>
  );
}

function Small({ icon, label, run, disabled, turned }: { icon: 'back' | 'next' | 'cross'; label: string; run: () => void; disabled?: boolean; turned?: boolean }) {
  return (
    <Button variant="default" size="compact-sm" aria-label={label} title={label} disabled={disabled} onClick={run}>
      <span className={turned ? classes.turned : undefined}><Icon name={icon} size={14} /></span>
    </Button>
  );
}

function Fields({ step: { after, channel, when }, change, errors }: { step: Step; change: (step: Partial<Step>) => void; errors: Errors }) {
  const text = useText();
  const words = useDeliveryText();
  const { data } = useQuery(channelsQuery);
  const channels = data?.items ?? [];
  const names = channels.map((each) => ({ value: each.name, label: channelName(words, each) }));
  const kinds = [...new Set(['push', 'email', 'slack', 'github', ...channels.map(({ kind }) => kind)])]
    .filter((kind) => !names.some(({ value }) => value === kind))
    .map((kind) => ({ value: kind, label: `${kindName(words, kind)} (${channels.some((each) => each.kind === kind) ? text.byKind : text.missing})` }));
  const offered = [...names, ...kinds];
  const known = channel === '' || offered.some(({ value }) => value === channel) ? offered : [...offered, { value: channel, label: `${channel} (${text.missing})` }];
  return (
    <div className={classes.fields}>
      <TextInput label={text.after} value={after} error={errors.after} onChange={(event) => change({ after: event.currentTarget.value.trim() })} />
      <Select label={text.channel} value={channel} data={known} allowDeselect={false} error={errors.channel} onChange={(value) => change({ channel: value ?? '' })} />
      <Select
        className={classes.whom} label={text.when} value={when} allowDeselect={false} data={[{ value: 'always', label: text.always }, { value: 'page_closed', label: text.page_closed }]}
        onChange={(value) => change({ when: value === 'page_closed' ? value : 'always' })}
      />
    </div>
  );
}
