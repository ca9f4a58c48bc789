import { Alert, Fieldset, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Policy } from '@/api/types';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { mayAdminister, mustSignInAgain } from '../parts/rights';
import { StoredForm } from '../parts/StoredForm';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { policyQuery } from '../queries';
import { Admins } from './Admins';
import { Assurance } from './Assurance';
import { Deadlines } from './Deadlines';
import { Gate } from './Gate';
import { Guesses } from './Guesses';
import { Kept } from './Kept';
import { Links } from './Links';
import { checkPolicy, type PolicyPartProps } from './policy';
import { ResumedQuestions } from './ResumedQuestions';
import { useText } from './text';
import { Undo } from './Undo';

/** Lets the reader change the policy of the workspace. */
export default function PolicyForm() {
  const text = useText();
  return <StoredForm query={policyQuery} words={text}>{(initial, onSaved) => <Fields initial={initial} onSaved={onSaved} />}</StoredForm>;
}

function Fields({ initial, onSaved }: { initial: Policy; onSaved: (policy: Policy) => void }) {
  const text = useText();
  const parts = usePartsText();
  const { data: me } = useQuery(whoamiQuery);
  const admin = mayAdminister(me);
  const form = useForm({
    initial,
    check: (policy) => checkPolicy(policy, { ...parts, ...text }),
    save: (policy) => unwrap(api.PUT('/v1/policies', { body: policy })),
    stored: (policy) => policy,
    onSaved: (policy) => {
      notifications.show({ message: text.saved, closeButtonProps: { 'aria-label': parts.close } });
      onSaved(policy);
    },
  });
  const props: PolicyPartProps = { policy: form.values, set: form.set, errors: form.errors };
  return (
    <Form form={form}>
      <Stack gap="lg">
        {!admin && <Alert>{mustSignInAgain(me) ? text.signInAgain : text.readOnly}</Alert>}
        <Fieldset variant="unstyled" disabled={!admin} aria-label={text.title}>
          <Stack gap="lg">
            <Deadlines {...props} />
            <ResumedQuestions {...props} />
            <Guesses {...props} />
            <Undo {...props} />
            <Assurance {...props} />
            <Admins {...props} />
            <Links {...props} />
            <Gate {...props} />
            <Kept {...props} />
          </Stack>
        </Fieldset>
        {admin && (
          <FormEnd
            submitLabel={text.save} sending={form.sending} error={form.error} submit={form.submit} disabled={!form.changed}
            onCancel={form.changed ? form.reset : undefined}
          />
        )}
      </Stack>
    </Form>
  );
}
