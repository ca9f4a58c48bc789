import { Button, Checkbox, Fieldset, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '@/api/client';
import type { NotificationPreferences, Routes } from '@/api/types';
import { kindName, types, useText as useDeliveryText } from '@/delivery/text';
import { languages } from '@/text/languages';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { useText as usePartsText } from '../parts/text';
import { useForm, type Errors } from '../parts/useForm';
import { routesQuery } from '../queries';
import { channelsOf, checkPreferences, days, preferencesOf, quietDeadlines, valuesOf, zoneHere, zones, type PreferenceValues } from './preference';
import { useText } from './text';

interface Props {
  stored: NotificationPreferences;
  onSaved: (stored: NotificationPreferences) => void;
}

/** Lets the reader choose which messages come, where and when. */
export function PreferenceForm({ stored, onSaved }: Props) {
  const { data: routes, error, refetch } = useQuery(routesQuery);
  if (error && !routes) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  return routes ? <Fields stored={stored} onSaved={onSaved} routes={routes} /> : <Loading />;
}

interface PartProps {
  values: PreferenceValues;
  set: <K extends keyof PreferenceValues>(key: K, value: PreferenceValues[K]) => void;
  errors: Errors;
}

function Fields({ stored, onSaved, routes }: Props & { routes: Routes }) {
  const text = useText();
  const parts = usePartsText();
  const begin = (saved: NotificationPreferences) => valuesOf(saved, channelsOf(routes, saved));
  const form = useForm({
    initial: () => begin(stored),
    check: (values) => checkPreferences(values, { ...parts, ...text }),
    save: (values) => unwrap(api.PUT('/v1/me/notifications', { body: preferencesOf(stored, values) })),
    stored: begin,
    onSaved: (saved) => {
      notifications.show({ message: text.saved, closeButtonProps: { 'aria-label': parts.close } });
      onSaved(saved);
    },
  });
  const props: PartProps = { values: form.values, set: form.set, errors: form.errors };
  return (
    <Form form={form}>
      <Stack gap="lg">
        <WantedKinds {...props} />
        <Digest {...props} />
        <QuietHours {...props} />
        <LocaleFields {...props} />
        <FormEnd submitLabel={text.save} sending={form.sending} error={form.error} submit={form.submit} disabled={!form.changed} onCancel={form.changed ? form.reset : undefined} />
      </Stack>
    </Form>
  );
}

/** Switches by channel and by type of message. */
function WantedKinds({ values: { wanted }, set }: PartProps) {
  const words = useDeliveryText();
  return (
    <Stack gap="sm">
      {Object.entries(wanted).map(([channel, on]) => (
        <Checkbox.Group key={channel} label={kindName(words, channel)} value={on} onChange={(now) => set('wanted', { ...wanted, [channel]: now })}>
          <Group gap="sm" mt={4}>{types.map((type) => <Checkbox key={type} value={type} label={words[`type_${type}`]} />)}</Group>
        </Checkbox.Group>
      ))}
    </Stack>
  );
}

function Digest({ values: { digest }, set }: PartProps) {
  const text = useText();
  return (
    <Select
      label={text.digest} description={text.digestAbout} maw={420} allowDeselect={false} value={digest}
      data={[{ value: 'off', label: text.digestOff }, { value: 'hourly', label: text.digestHourly }, { value: 'daily', label: text.digestDaily }]}
      onChange={(value) => set('digest', value === 'hourly' || value === 'daily' ? value : 'off')}
    />
  );
}

function QuietHours({ values, set, errors }: PartProps) {
  const text = useText();
  return (
    <Fieldset legend={text.quiet}>
      <Stack gap="sm">
        <Switch label={text.quietOn} description={text.quietAbout} checked={values.quietOn} onChange={(event) => set('quietOn', event.currentTarget.checked)} />
        {values.quietOn && (
          <>
            <Group align="flex-start">
              <TextInput type="time" label={text.from} value={values.from} error={errors['quiet.from']} onChange={(event) => set('from', event.currentTarget.value)} />
              <TextInput type="time" label={text.to} value={values.to} error={errors['quiet.to']} onChange={(event) => set('to', event.currentTarget.value)} />
            </Group>
            <div role="group" aria-labelledby="quiet-days">
              <Text size="sm" fw={500} id="quiet-days">{text.days} <Text span size="sm" c="dimmed">{text.daysAbout}</Text></Text>
              <Checkbox.Group value={values.days} onChange={(chosen) => set('days', chosen)}>
                <Group gap="sm" mt={4}>{days.map((day) => <Checkbox key={day} value={day} label={text[day]} />)}</Group>
              </Checkbox.Group>
            </div>
            <Switch label={text.urgent} checked={values.urgent} onChange={(event) => set('urgent', event.currentTarget.checked)} />
            <Select
              label={text.deadlines} description={text.deadlinesAbout} maw={420} allowDeselect={false} value={values.deadlines}
              data={quietDeadlines.map((value) => ({ value, label: text[`deadlines_${value}`] }))}
              onChange={(value) => set('deadlines', quietDeadlines.find((one) => one === value) ?? 'urgent')}
            />
          </>
        )}
      </Stack>
    </Fieldset>
  );
}

function LocaleFields({ values: { zone, language }, set, errors }: PartProps) {
  const text = useText();
  const all = useMemo(() => zones(), []);
  const ownZone = zoneHere();
  return (
    <Group align="flex-end" gap="sm">
      <Select label={text.zone} searchable limit={100} value={zone || 'UTC'} data={all} error={errors.zone} allowDeselect={false} onChange={(value) => set('zone', value ?? '')} />
      {ownZone !== (zone || 'UTC') && all.includes(ownZone) && <Button variant="default" onClick={() => set('zone', ownZone)}>{text.zoneHere(ownZone)}</Button>}
      <Select
        label={text.language} allowDeselect={false} value={language in languages ? language : ''} data={[...(language in languages ? [] : [{ value: '', label: language || text.languageAuto }]), ...Object.entries(languages).map(([value, label]) => ({ value, label }))]}
        onChange={(value) => set('language', value ?? '')}
      />
    </Group>
  );
}
