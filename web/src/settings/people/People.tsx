import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Link, Member } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { mayAdminister } from '../parts/rights';
import { Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { identitiesQuery, membersQuery } from '../queries';
import { DevicesDialog } from './DevicesDialog';
import { IdentityDialog } from './IdentityDialog';
import { Invitations } from './Invitations';
import { InviteDialog } from './InviteDialog';
import { LinkDialog } from './LinkDialog';
import { PersonDialog } from './PersonDialog';
import { PersonRow } from './PersonRow';
import { useText } from './text';

type OpenDialog = { what: 'invite' | 'add' } | { what: 'edit' | 'devices' | 'identities' | 'disable'; member: Member } | { what: 'link'; link: Link } | undefined;

/** Shows the members of the workspace. */
export default function People() {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const { data, error, refetch } = useQuery(membersQuery);
  const { data: known } = useQuery({ ...identitiesQuery, enabled: mayAdminister(me) });
  const identitiesOf = (member: Member) => known?.items.filter(({ member_id }) => member_id === member.id) ?? [];
  const [doing, setDoing] = useState<OpenDialog>();
  const [trouble, setTrouble] = useState<unknown>();
  const may = mayAdminister(me);
  const close = () => setDoing(undefined);
  useCommands([{ id: 'invite', title: text.invite, group: text.people, keys: ['n'], run: () => setDoing({ what: 'invite' }) }], may);
  const link = async (member: Member) => {
    try {
      setTrouble(undefined);
      setDoing({ what: 'link', link: await unwrap(api.POST('/v1/members/{id}/links', { params: { path: { id: member.id } } })) });
    } catch (refused) {
      setTrouble(refused);
    }
  };
  const disable = async ({ id, disabled_at }: Member) => {
    await unwrap(api.PATCH('/v1/members/{id}', { params: { path: { id } }, body: { disabled: !disabled_at } }));
    await client.invalidateQueries({ queryKey: ['members'] });
  };
  return (
    <Stack gap="xl">
      <Section
        title={text.people} about={text.peopleAbout}
        actions={may ? (
          <Group gap="xs">
            <Button variant="default" onClick={() => setDoing({ what: 'add' })}>{text.add}</Button>
            <Button leftSection={<Icon name="person" />} onClick={() => setDoing({ what: 'invite' })}>{text.invite}</Button>
          </Group>
        ) : <Text size="sm" c="dimmed">{parts.onlyAdmins}</Text>}
      >
        {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
        {Boolean(trouble) && <ErrorAlert error={trouble} />}
        {data && (
          <Rows label={text.people}>
            {data.items.map((member) => (
              <PersonRow
                key={member.id} member={member} identities={identitiesOf(member)} mine={member.handle === me?.name} may={may}
                onEdit={() => setDoing({ what: 'edit', member })} onIdentities={() => setDoing({ what: 'identities', member })} onLink={() => void link(member)}
                onDevices={() => setDoing({ what: 'devices', member })} onDisable={() => setDoing({ what: 'disable', member })}
              />
            ))}
          </Rows>
        )}
      </Section>
      {may && <Invitations />}
      {doing?.what === 'invite' && <InviteDialog onClose={close} />}
      {doing?.what === 'add' && <PersonDialog onClose={close} />}
      {doing?.what === 'edit' && <PersonDialog member={doing.member} onClose={close} />}
      {doing?.what === 'devices' && <DevicesDialog member={doing.member} onClose={close} />}
      {doing?.what === 'identities' && <IdentityDialog member={doing.member} identities={identitiesOf(doing.member)} onClose={close} />}
      {doing?.what === 'link' && <LinkDialog link={doing.link} onClose={close} />}
      {doing?.what === 'disable' && (
        <Confirm
          title={doing.member.disabled_at ? text.enableTitle(doing.member.handle) : text.disableTitle(doing.member.handle)}
          confirmLabel={doing.member.disabled_at ? text.enable : text.disable} run={() => disable(doing.member)} onClose={close}
        >
          {doing.member.disabled_at ? text.enableAbout : text.disableAbout}
        </Confirm>
      )}
    </Stack>
  );
}
