import { Alert, Stack, TextInput } from '@mantine/core';
import { addPasskey, stoppedByDevice } from '@/sign-in/passkey';
import { Dialog } from '@/ui/Dialog';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { browserName } from './browser';
import { useText } from './text';

/** The dialog that names a new passkey and creates it. */
export function PasskeyDialog({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={text.addPasskey}>
      <PasskeyForm onAdded={onAdded} onClose={onClose} />
    </Dialog>
  );
}

function PasskeyForm({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const form = useForm({
    initial: { name: browserName(navigator.userAgent) ?? '' },
    check: ({ name }) => (name.trim() === '' ? { name: parts.needed } : name.length > 100 ? { name: parts.tooLong(100) } : {}),
    save: ({ name }) => addPasskey(name.trim()),
    onSaved: onAdded,
  });
  const stopped = stoppedByDevice(form.error);
  return (
    <Form form={form}>
      <Stack>
        <TextInput label={text.passkeyName} data-autofocus value={form.values.name} error={form.errors.name} onChange={(event) => form.set('name', event.currentTarget.value)} />
        {stopped && <Alert color="orange" role="alert">{stopped === 'known' ? text.passkeyKnown : text.passkeyRefused}</Alert>}
        <FormEnd submitLabel={text.addPasskey} sending={form.sending} error={stopped ? undefined : form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
