import { Alert, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Whoami } from '@/api/types';
import { SignOut } from '@/sign-in/SignOut';
import { useTime } from '@/text/time';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { roleWord } from '../parts/roles';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { Passkeys } from './Passkeys';
import { Sessions } from './Sessions';
import { useText } from './text';

/** Shows the reader's account and devices. */
export default function Account() {
  const text = useText();
  const { data: me } = useQuery(whoamiQuery);
  if (!me) return null;
  return (
    <Stack gap="xl">
      <Section
        title={text.account}
        actions={me.session_id && <SignOut />}
      >
        {me.single_user && <Alert>{text.singleUser}</Alert>}
        {!me.single_user && !me.session_id && <Alert>{text.byToken}</Alert>}
        <Facts me={me} />
        <Name key={me.full_name ?? ''} me={me} />
      </Section>
      {!me.single_user && <Passkeys />}
      {!me.single_user && <Sessions />}
    </Stack>
  );
}

function Facts({ me }: { me: Whoami }) {
  const text = useText();
  const parts = usePartsText();
  const time = useTime();
  const known = { link: text.knownLink, channel: text.knownChannel, session: text.knownSession, passkey: text.knownPasskey };
  const facts = [
    [text.you, me.name],
    [text.email, me.email],
    [parts.role, me.role && [roleWord(parts, me.role), ...Object.entries(me.projects ?? {}).map(([project, role]) => `${project}: ${roleWord(parts, role)}`)].join(', ')],
    [text.groups, me.groups?.join(', ')],
    [text.known, me.assurance && known[me.assurance] + (me.fresh_until ? `, ${text.knownUntil(time.full(me.fresh_until))}` : '')],
  ] as const;
  return (
    <Stack gap={4} component="dl" m={0}>
      {facts.filter(([, fact]) => fact).map(([label, fact]) => (
        <Group key={label} gap="xs" align="baseline">
          <Text component="dt" size="sm" c="dimmed" miw={170}>{label}</Text>
          <Text component="dd" m={0} fw={500}>{fact}</Text>
        </Group>
      ))}
    </Stack>
  );
}

function Name({ me }: { me: Whoami }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const form = useForm({
    initial: { name: me.full_name ?? '' },
    check: ({ name }) => (name.length > 100 ? { name: parts.tooLong(100) } : {}),
    save: ({ name }) => unwrap(api.PATCH('/v1/members/{id}', { params: { path: { id: me.member_id ?? me.name } }, body: { name } })),
    stored: ({ name = '' }) => ({ name }),
    onSaved: () => void client.invalidateQueries({ queryKey: ['whoami'] }),
  });
  return (
    <Form form={form}>
      <Stack gap="sm" maw={420}>
        <TextInput label={text.name} autoComplete="name" value={form.values.name} error={form.errors.name} onChange={(event) => form.set('name', event.currentTarget.value)} />
        {form.changed && <FormEnd submitLabel={text.rename} sending={form.sending} error={form.error} submit={form.submit} />}
      </Stack>
    </Form>
  );
}
