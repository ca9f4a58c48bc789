import { Alert, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Channel, ChannelKind } from '@/api/types';
import { kindName, useText as useDeliveryText } from '@/delivery/text';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { useText as usePartsText } from '../parts/text';
import { useForm, type Errors } from '../parts/useForm';
import { channelsQuery } from '../queries';
import { aboutOf, changeOf, faultOf, fieldOf, propertiesOf, type Field } from './schema';
import { SchemaFields } from './SchemaFields';
import { useText } from './text';

interface Props {
  kind: ChannelKind;
  /** The channel to change. Without it, a new one is added. */
  channel?: Channel;
  /** A name that no channel has yet. */
  name?: string;
  onSaved: (channel: Channel) => void;
  onClose: () => void;
}

/** The dialog that adds a channel of a kind, or changes one. */
export function ChannelDialog(props: Props) {
  const text = useText();
  const words = useDeliveryText();
  const { channel, kind, onClose } = props;
  return (
    <Dialog opened onClose={onClose} title={channel ? text.editTitle(channel.name) : text.addAs(kindName(words, kind.kind))} size="lg" closeOnClickOutside={false}>
      <ChannelForm {...props} />
    </Dialog>
  );
}

interface Values {
  name: string;
  fields: Record<string, Field>;
  dropped: string[];
}

const isName = (name: string) => /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/.test(name);

function ChannelForm({ kind, channel, name = '', onSaved, onClose }: Props) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const properties = propertiesOf(kind.schema, kind.secrets);
  const stored: Record<string, unknown> = channel?.settings ?? {};
  const kept = channel?.secrets_set ?? [];
  const form = useForm<Values, Channel>({
    initial: { name: channel?.name ?? name, fields: Object.fromEntries(properties.map((property) => [property.name, fieldOf(property, stored[property.name])])), dropped: [] },
    check: (values) => {
      const errors: Errors = {};
      if (!isName(values.name)) errors.name = values.name === '' ? parts.needed : text.nameWrong;
      for (const property of properties) {
        const fault = faultOf({ ...property, required: property.required && !kept.includes(property.name) }, values.fields[property.name] ?? '', { ...parts, ...text });
        if (fault) errors[`settings.${property.name}`] = fault;
      }
      return errors;
    },
    save: (values) => {
      const settings = changeOf(properties, stored, values.fields, values.dropped);
      return channel
        ? unwrap(api.PATCH('/v1/channels/{name}', { params: { path: { name: channel.name } }, body: { settings, ...(values.name === channel.name ? {} : { name: values.name }) } }))
        : unwrap(api.POST('/v1/channels', { body: { name: values.name, kind: kind.kind, settings } }));
    },
    onSaved: (saved) => {
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey });
      onSaved(saved);
    },
  });
  const { fields, dropped } = form.values;
  return (
    <Form form={form}>
      <Stack>
        {aboutOf(kind.schema) && <Text size="sm">{aboutOf(kind.schema)}</Text>}
        {kind.public && <Alert color="orange" icon={<Icon name="warning" />}>{text.publicKind}</Alert>}
        {!kind.built_in && (
          <TextInput label={text.name} description={text.nameAbout} required value={form.values.name} error={form.errors.name} onChange={(event) => form.set('name', event.currentTarget.value.trim())} data-autofocus />
        )}
        <SchemaFields
          properties={properties} fields={fields} errors={form.errors} stored={kept} dropped={dropped}
          set={(property, field) => form.set('fields', { ...fields, [property]: field })}
          drop={(property, gone) => form.set('dropped', gone ? [...dropped, property] : dropped.filter((each) => each !== property))}
        />
        <FormEnd submitLabel={channel ? text.save : text.add} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
