import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Member } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { changeOf, checkPerson, newPerson, emptyPerson, valuesOf } from './person';
import { PersonFields } from './PersonFields';
import { useText } from './text';

/** The dialog that changes a person, or adds one if none is given. */
export function PersonDialog({ member, onClose }: { member?: Member; onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={member ? text.editTitle(member.handle) : text.add} size="lg" closeOnClickOutside={false}>
      <PersonForm member={member} onClose={onClose} />
    </Dialog>
  );
}

function PersonForm({ member, onClose }: { member?: Member; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const form = useForm({
    initial: member ? valuesOf(member) : emptyPerson,
    check: (values) => checkPerson(values, { ...parts, ...text }),
    save: (values) =>
      member
        ? unwrap(api.PATCH('/v1/members/{id}', { params: { path: { id: member.id } }, body: changeOf(member, values) }))
        : unwrap(api.POST('/v1/members', { body: { ...newPerson(values), handle: values.handle } })),
    onSaved: () => {
      void client.invalidateQueries({ queryKey: ['members'] });
      void client.invalidateQueries({ queryKey: ['whoami'] });
      onClose();
    },
  });
  return (
    <Form form={form}>
      <Stack>
        <PersonFields values={form.values} set={form.set} errors={form.errors} known={member !== undefined} emailAbout={text.emailAbout} />
        <FormEnd submitLabel={member ? text.save : text.add} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
