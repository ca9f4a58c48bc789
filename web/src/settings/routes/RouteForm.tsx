import { Alert, Button, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, need } from '@/api/client';
import type { Routes } from '@/api/types';
import { types } from '@/delivery/text';
import { Trouble } from '@/ui/Trouble';
import { Waiting } from '@/ui/Waiting';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { routesQuery } from '../queries';
import { checkPlan, planOf, routesOf } from './route';
import { RouteOf } from './RouteOf';
import { useText } from './text';

/** Where questions go, and when. */
export default function RouteForm() {
  const text = useText();
  const { data, error, refetch } = useQuery(routesQuery);
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  return (
    <Section title={text.title} about={text.about}>
      {data ? <Loaded stored={data} /> : <Waiting />}
    </Section>
  );
}

/** A change by somebody else does not wipe what is typed. */
function Loaded({ stored }: { stored: Routes }) {
  const text = useText();
  const [begun, setBegun] = useState(stored);
  const key = JSON.stringify(begun);
  return (
    <Stack>
      {key !== JSON.stringify(stored) && (
        <Alert color="orange" role="status">
          <Group justify="space-between">
            {text.changedElsewhere}
            <Button size="compact-sm" variant="default" onClick={() => setBegun(stored)}>{text.loadTheirs}</Button>
          </Group>
        </Alert>
      )}
      <Fields key={key} begun={begun} onSaved={setBegun} />
    </Stack>
  );
}

function Fields({ begun, onSaved }: { begun: Routes; onSaved: (routes: Routes) => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const [initial] = useState(() => planOf(begun));
  const form = useForm({
    initial,
    check: (plan) => checkPlan(plan, parts),
    save: (plan) => need(api.PUT('/v1/routes', { body: routesOf(plan) })),
    onSaved: (routes) => {
      client.setQueryData(routesQuery.queryKey, routes);
      notifications.show({ message: text.saved, closeButtonProps: { 'aria-label': parts.close } });
      onSaved(routes);
    },
  });
  return (
    <Form form={form}>
      <Stack gap="xl">
        {types.map((type) => <RouteOf key={type} type={type} steps={form.values[type]} set={(steps) => form.set(type, steps)} errors={form.errors} />)}
        <FormEnd
          yes={text.save} sending={form.sending} error={form.error} submit={form.submit} disabled={!form.changed}
          onCancel={form.changed ? () => form.setValues(initial) : undefined}
        />
      </Stack>
    </Form>
  );
}
