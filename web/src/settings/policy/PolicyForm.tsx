import { Alert, Button, Fieldset, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, need } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Policy } from '@/api/types';
import { Trouble } from '@/ui/Trouble';
import { Waiting } from '@/ui/Waiting';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { mayAdminister } from '../parts/rights';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { policyQuery } from '../queries';
import { Assurance } from './Assurance';
import { Deadlines } from './Deadlines';
import { Gate } from './Gate';
import { Guesses } from './Guesses';
import { Links } from './Links';
import { checkPolicy } from './policy';
import { useText } from './text';
import { Undo } from './Undo';

export interface PolicyPartProps {
  policy: Policy;
  set: <K extends keyof Policy>(key: K, value: Policy[K]) => void;
  errors: Partial<Record<string, string>>;
}

/** What agents may ask for. */
export default function PolicyForm() {
  const text = useText();
  const { data, error, refetch } = useQuery(policyQuery);
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  return (
    <Section title={text.title} about={text.about}>
      {data ? <Loaded stored={data} /> : <Waiting />}
    </Section>
  );
}

/** The form begins with the rules as they were; a change by somebody else does not wipe what is typed. */
function Loaded({ stored }: { stored: Policy }) {
  const text = useText();
  const [begun, setBegun] = useState(stored);
  const same = JSON.stringify(begun) === JSON.stringify(stored);
  return (
    <Stack>
      {!same && (
        <Alert color="orange" role="status">
          <Group justify="space-between">
            {text.changedElsewhere}
            <Button size="compact-sm" variant="default" onClick={() => setBegun(stored)}>{text.loadTheirs}</Button>
          </Group>
        </Alert>
      )}
      <Fields key={JSON.stringify(begun)} begun={begun} onSaved={setBegun} />
    </Stack>
  );
}

function Fields({ begun, onSaved }: { begun: Policy; onSaved: (policy: Policy) => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const admin = mayAdminister(me);
  const form = useForm({
    initial: begun,
    check: (policy) => checkPolicy(policy, { ...parts, ...text }),
    save: (policy) => need(api.PUT('/v1/policies', { body: policy })),
    onSaved: (policy) => {
      client.setQueryData(policyQuery.queryKey, policy);
      notifications.show({ message: text.saved, closeButtonProps: { 'aria-label': parts.close } });
      onSaved(policy);
    },
  });
  const props: PolicyPartProps = { policy: form.values, set: form.set, errors: form.errors };
  return (
    <Form form={form}>
      <Stack gap="lg">
        {!admin && <Alert>{text.readOnly}</Alert>}
        <Fieldset variant="unstyled" disabled={!admin} aria-label={text.title}>
          <Stack gap="lg">
            <Deadlines {...props} />
            <Guesses {...props} />
            <Undo {...props} />
            <Assurance {...props} />
            <Links {...props} />
            <Gate {...props} />
          </Stack>
        </Fieldset>
        {admin && (
          <FormEnd
            yes={text.save} sending={form.sending} error={form.error} submit={form.submit} disabled={!form.changed}
            onCancel={form.changed ? () => form.setValues(begun) : undefined}
          />
        )}
      </Stack>
    </Form>
  );
}
