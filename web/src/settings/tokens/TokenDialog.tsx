import { Autocomplete, Button, Checkbox, Code, Group, Radio, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Token } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { Expiry } from '../parts/Expiry';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { OneTimeSecret } from '../parts/OneTimeSecret';
import { mayAdminister } from '../parts/rights';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { membersQuery, projectsQuery, tokensQuery } from '../queries';
import { useText } from './text';
import { checkToken, mayHave, newToken, scopes, type Scope, type TokenValues } from './token';

/** The dialog that creates a token and shows its secret once. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const [made, setMade] = useState<Token>();
  return (
    <Dialog opened onClose={onClose} title={made ? text.madeTitle : text.add} size="lg" closeOnClickOutside={false}>
      {made ? <MadeToken token={made} onClose={onClose} /> : <TokenForm onMade={setMade} onClose={onClose} />}
    </Dialog>
  );
}

function MadeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  return (
    <Stack>
      <OneTimeSecret label={text.secret} value={token.secret ?? ''} about={text.madeAbout} />
      <Text size="sm" component="div">
        {text.use}
        <Code block mt={4} tabIndex={0}>{`export FERMATA_URL=${location.origin}\nexport FERMATA_TOKEN=…`}</Code>
      </Text>
      <Group justify="flex-end"><Button variant="default" onClick={onClose}>{parts.done}</Button></Group>
    </Stack>
  );
}

function TokenForm({ onMade, onClose }: { onMade: (token: Token) => void; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const { data: members } = useQuery(membersQuery);
  const { data: projects } = useQuery(projectsQuery);
  const admin = mayAdminister(me);
  const initial: TokenValues = { name: '', kind: admin ? 'agent' : 'human', member: admin ? '' : (me?.name ?? ''), scopes: admin ? ['ask'] : ['read'], projects: [], expires_in: '90d' };
  const form = useForm({
    initial,
    check: (values) => checkToken(values, { ...parts, ...text }),
    save: (values) => unwrap(api.POST('/v1/tokens', { body: newToken(values) })),
    onSaved: (token) => {
      void client.invalidateQueries({ queryKey: tokensQuery.queryKey });
      onMade(token);
    },
  });
  const { values, errors, set } = form;
  return (
    <Form form={form}>
      <Stack>
        <TextInput label={text.name} description={text.nameAbout} required data-autofocus value={values.name} error={errors.name} onChange={(event) => set('name', event.currentTarget.value)} />
        {admin && (
          <Radio.Group label={text.kind} value={values.kind} onChange={(kind) => set('kind', kind === 'human' ? 'human' : 'agent')}>
            <Stack gap="xs" mt={4}>
              <Radio value="agent" label={text.agent} description={text.agentAbout} />
              <Radio value="human" label={text.human} description={text.humanAbout} />
            </Stack>
          </Radio.Group>
        )}
        {admin && values.kind === 'human' && (
          <Autocomplete
            label={text.member} description={text.memberAbout} required value={values.member} error={errors.member}
            data={members?.items.map((member) => member.handle) ?? []} onChange={(member) => set('member', member)}
          />
        )}
        <Checkbox.Group label={text.scopes} required value={values.scopes} error={errors.scopes} onChange={(chosen) => set('scopes', scopes.filter((scope) => chosen.includes(scope)))}>
          <Stack gap="xs" mt={4}>
            {scopes.map((scope) => <ScopeBox key={scope} scope={scope} allowed={mayHave(values.kind, scope)} mine={admin || (me?.scopes.includes(scope) ?? false)} />)}
          </Stack>
        </Checkbox.Group>
        {values.kind === 'agent' && (
          <TagsInput
            label={text.projects} description={text.projectsAbout} splitChars={[',', ' ']} acceptValueOnBlur data={projects?.items.map(({ name }) => name) ?? []}
            value={values.projects} error={errors.projects} onChange={(chosen) => set('projects', chosen)}
          />
        )}
        <Expiry value={values.expires_in} set={(value) => set('expires_in', value)} error={errors.expires_in} />
        <FormEnd submitLabel={text.make} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}

function ScopeBox({ scope, allowed, mine }: { scope: Scope; allowed: boolean; mine: boolean }) {
  const text = useText();
  if (!mine) return null;
  return <Checkbox value={scope} disabled={!allowed} label={text[scope]} description={allowed ? text[`${scope}About`] : text.never} />;
}
