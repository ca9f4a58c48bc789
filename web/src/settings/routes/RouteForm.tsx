import { Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { api, unwrap } from '@/api/client';
import type { Routes } from '@/api/types';
import { types } from '@/delivery/text';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { StoredForm } from '../parts/StoredForm';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { routesQuery } from '../queries';
import { checkPlan, planOf, routesOf } from './route';
import { RouteSteps } from './RouteSteps';
import { useText } from './text';

/** Lets the reader set where questions go, and when. */
export default function RouteForm() {
  const text = useText();
  return <StoredForm query={routesQuery} words={text}>{(initial, onSaved) => <Fields initial={initial} onSaved={onSaved} />}</StoredForm>;
}

function Fields({ initial, onSaved }: { initial: Routes; onSaved: (routes: Routes) => void }) {
  const text = useText();
  const parts = usePartsText();
  const form = useForm({
    initial: () => planOf(initial),
    check: (plan) => checkPlan(plan, parts),
    save: (plan) => unwrap(api.PUT('/v1/routes', { body: routesOf(plan) })),
    stored: planOf,
    onSaved: (routes) => {
      notifications.show({ message: text.saved, closeButtonProps: { 'aria-label': parts.close } });
      onSaved(routes);
    },
  });
  return (
    <Form form={form}>
      <Stack gap="xl">
        {types.map((type) => <RouteSteps key={type} type={type} steps={form.values[type]} set={(steps) => form.set(type, steps)} errors={form.errors} />)}
        <FormEnd
          submitLabel={text.save} sending={form.sending} error={form.error} submit={form.submit} disabled={!form.changed}
          onCancel={form.changed ? form.reset : undefined}
        />
      </Stack>
    </Form>
  );
}
