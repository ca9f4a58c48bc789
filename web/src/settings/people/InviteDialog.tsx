import { Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import type { Invitation } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { OneTimeSecret } from '../parts/OneTimeSecret';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { checkPerson, newPerson, emptyPerson } from './person';
import { PersonFields } from './PersonFields';
import { useText } from './text';

/** The dialog that invites a person and shows the link once. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const [made, setMade] = useState<Invitation>();
  return (
    <Dialog opened onClose={onClose} title={made ? text.invitedTitle : text.invite} size="lg" closeOnClickOutside={false}>
      {made ? <MadeInvitation invitation={made} onClose={onClose} /> : <InviteForm onMade={setMade} onClose={onClose} />}
    </Dialog>
  );
}

function MadeInvitation({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  return (
    <Stack>
      {invitation.sent && <Text>{text.invitedSent(invitation.email ?? '')}</Text>}
      <OneTimeSecret label={text.link} value={invitation.url ?? ''} about={text.invitedAbout(invitation.handle ?? '')} />
      <Group justify="flex-end"><Button variant="default" onClick={onClose}>{parts.done}</Button></Group>
    </Stack>
  );
}

function InviteForm({ onMade, onClose }: { onMade: (invitation: Invitation) => void; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const form = useForm({
    initial: emptyPerson,
    check: (values) => checkPerson(values, { ...parts, ...text }, true),
    save: (values) => unwrap(api.POST('/v1/invitations', { body: newPerson(values) })),
    onSaved: (invitation) => {
      void client.invalidateQueries({ queryKey: ['members'] });
      onMade(invitation);
    },
  });
  return (
    <Form form={form}>
      <Stack>
        <Text size="sm" c="dimmed">{text.inviteAbout}</Text>
        <PersonFields values={form.values} set={form.set} errors={form.errors} emailAbout={text.emailInvite} />
        <FormEnd submitLabel={text.makeInvitation} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
