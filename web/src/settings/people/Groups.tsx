import { Button, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Group } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { EmptyList } from '../parts/EmptyList';
import { mayAdminister } from '../parts/rights';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { groupsQuery } from '../queries';
import { GroupDialog } from './GroupDialog';
import { useText } from './text';

type OpenDialog = { what: 'add' } | { what: 'edit' | 'dissolve'; group: Group } | undefined;

/** Shows the groups of people. */
export default function Groups() {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const { data, error, refetch } = useQuery(groupsQuery);
  const [doing, setDoing] = useState<OpenDialog>();
  const may = mayAdminister(me);
  const close = () => setDoing(undefined);
  useCommands([{ id: 'add-group', title: text.addGroup, group: text.groupsTitle, keys: ['n'], run: () => setDoing({ what: 'add' }) }], may);
  const dissolve = async ({ name }: Group) => {
    await unwrap(api.DELETE('/v1/groups/{name}', { params: { path: { name } } }));
    await client.invalidateQueries({ queryKey: ['members'] });
  };
  return (
    <Section
      title={text.groupsTitle} about={text.groupsTitleAbout}
      actions={may ? <Button leftSection={<Icon name="person" />} onClick={() => setDoing({ what: 'add' })}>{text.addGroup}</Button> : <Text size="sm" c="dimmed">{parts.onlyAdmins}</Text>}
    >
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data?.items.length === 0 && <EmptyList>{text.noGroups}</EmptyList>}
      {data && data.items.length > 0 && (
        <Rows label={text.groupsTitle}>
          {data.items.map((group) => (
            <GroupRow key={group.name} group={group} may={may} onEdit={() => setDoing({ what: 'edit', group })} onDissolve={() => setDoing({ what: 'dissolve', group })} />
          ))}
        </Rows>
      )}
      {doing?.what === 'add' && <GroupDialog onClose={close} />}
      {doing?.what === 'edit' && <GroupDialog group={doing.group} onClose={close} />}
      {doing?.what === 'dissolve' && (
        <Confirm title={text.dissolveTitle(doing.group.name)} confirmLabel={text.dissolve} run={() => dissolve(doing.group)} onClose={close}>{text.dissolveAbout}</Confirm>
      )}
    </Section>
  );
}

function GroupRow({ group, may, onEdit, onDissolve }: { group: Group; may: boolean; onEdit: () => void; onDissolve: () => void }) {
  const text = useText();
  const { name, description, members } = group;
  return (
    <Row
      name={name}
      actions={may && (
        <>
          <Button variant="default" size="compact-sm" aria-label={`${text.edit}: ${name}`} onClick={onEdit}>{text.edit}</Button>
          <Button variant="default" size="compact-sm" aria-label={`${text.dissolve}: ${name}`} onClick={onDissolve}>{text.dissolve}</Button>
        </>
      )}
    >
      {description && <div>{description}</div>}
      <div>{members.length > 0 ? members.join(', ') : text.nobody}</div>
    </Row>
  );
}
