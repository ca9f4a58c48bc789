import { MultiSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Group } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { membersQuery } from '../queries';
import { isGroupName } from './person';
import { useText } from './text';

/** The dialog that changes a group, or creates one if none is given. */
export function GroupDialog({ group, onClose }: { group?: Group; onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={group ? text.editGroup(group.name) : text.addGroup} closeOnClickOutside={false}>
      <GroupForm group={group} onClose={onClose} />
    </Dialog>
  );
}

function GroupForm({ group, onClose }: { group?: Group; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: members } = useQuery(membersQuery);
  const form = useForm({
    initial: { name: group?.name ?? '', description: group?.description ?? '', members: group?.members ?? [] },
    check: ({ name, description }) => ({
      ...(isGroupName(name) ? {} : { name: name === '' ? parts.needed : text.groupNameWrong }),
      ...(description.length > 500 ? { description: parts.tooLong(500) } : {}),
    }),
    save: (values) => (group ? unwrap(api.PATCH('/v1/groups/{name}', { params: { path: { name: group.name } }, body: values })) : unwrap(api.POST('/v1/groups', { body: values }))),
    onSaved: () => {
      void client.invalidateQueries({ queryKey: ['members'] });
      onClose();
    },
  });
  const { values, errors, set } = form;
  return (
    <Form form={form}>
      <Stack>
        <TextInput label={text.groupName} required data-autofocus autoComplete="off" value={values.name} error={errors.name} onChange={(event) => set('name', event.currentTarget.value)} />
        <Textarea label={text.description} autosize minRows={1} value={values.description} error={errors.description} onChange={(event) => set('description', event.currentTarget.value)} />
        <MultiSelect
          label={text.members} description={text.membersAbout} searchable data={members?.items.map(({ handle }) => handle) ?? []}
          value={values.members} error={errors.members} onChange={(chosen) => set('members', chosen)}
        />
        <FormEnd submitLabel={group ? text.save : text.addGroup} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
