import { Button, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Identity, Member } from '@/api/types';
import { kindName, useText as useDeliveryText } from '@/delivery/text';
import { Dialog } from '@/ui/Dialog';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { EmptyList } from '../parts/EmptyList';
import { Row, Rows } from '../parts/Rows';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { channelKindsQuery, identitiesQuery } from '../queries';
import { useText } from './text';

interface Props {
  member: Member;
  identities: readonly Identity[];
  onClose: () => void;
}

/** Shows the names of a person in chats and on other systems. */
export function IdentityDialog({ member, identities, onClose }: Props) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={text.identitiesOf(member.handle)} size="lg" closeOnClickOutside={false}>
      <Stack>
        <Text size="sm">{text.identitiesAbout}</Text>
        {identities.length === 0 ? <EmptyList>{text.noIdentities}</EmptyList> : <KnownIdentities member={member} identities={identities} />}
        <AddIdentity key={identities.length} member={member} onClose={onClose} />
      </Stack>
    </Dialog>
  );
}

function KnownIdentities({ member, identities }: Omit<Props, 'onClose'>) {
  const text = useText();
  const words = useDeliveryText();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (kind: string) => unwrap(api.DELETE('/v1/members/{id}/identities/{kind}', { params: { path: { id: member.id, kind } } })),
    onSettled: () => client.invalidateQueries({ queryKey: identitiesQuery.queryKey }),
  });
  return (
    <>
      {remove.error && <ErrorAlert error={remove.error} />}
      <Rows label={text.identities}>
        {identities.map(({ kind, id, name }) => (
          <Row
            key={kind} name={kindName(words, kind)}
            actions={<Button variant="default" size="compact-sm" loading={remove.isPending} aria-label={`${text.removeIdentity}: ${kindName(words, kind)}`} onClick={() => remove.mutate(kind)}>{text.removeIdentity}</Button>}
          >
            {name ? `${name} (${id})` : id}
          </Row>
        ))}
      </Rows>
    </>
  );
}

function AddIdentity({ member, onClose }: { member: Member; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const words = useDeliveryText();
  const client = useQueryClient();
  const { data: kinds } = useQuery(channelKindsQuery);
  const offered = kinds?.items.filter(({ kind }) => kind !== 'push').map(({ kind }) => ({ value: kind, label: kindName(words, kind) })) ?? [];
  const form = useForm({
    initial: { kind: '', id: '', name: '' },
    check: ({ kind, id, name }) => ({
      ...(kind === '' ? { kind: parts.needed } : {}), ...(id === '' ? { id: parts.needed } : id.length > 200 ? { id: parts.tooLong(200) } : {}), ...(name.length > 200 ? { name: parts.tooLong(200) } : {}),
    }),
    save: ({ kind, id, name }) => unwrap(api.PUT('/v1/members/{id}/identities/{kind}', { params: { path: { id: member.id, kind } }, body: { id, ...(name ? { name } : {}) } })),
    onSaved: () => void client.invalidateQueries({ queryKey: identitiesQuery.queryKey }),
  });
  return (
    <Form form={form}>
      <Stack>
        <Select label={text.identityKind} description={text.identityKindAbout} data={offered} value={form.values.kind || null} error={form.errors.kind} onChange={(kind) => form.set('kind', kind ?? '')} />
        <TextInput label={text.identityId} description={text.identityIdAbout} value={form.values.id} error={form.errors.id} onChange={(event) => form.set('id', event.currentTarget.value.trim())} />
        <TextInput label={text.identityName} value={form.values.name} error={form.errors.name} onChange={(event) => form.set('name', event.currentTarget.value)} />
        <FormEnd submitLabel={text.addIdentity} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
