import { Badge, Button } from '@mantine/core';
import type { Identity, Member } from '@/api/types';
import { kindName, useText as useDeliveryText } from '@/delivery/text';
import { useTime } from '@/text/time';
import { roleWord } from '../parts/roles';
import { Row } from '../parts/Rows';
import { useText as usePartsText } from '../parts/text';
import { useText } from './text';

interface Props {
  member: Member;
  /** The names of the person in other systems. */
  identities: readonly Identity[];
  mine: boolean;
  may: boolean;
  onEdit: () => void;
  onIdentities: () => void;
  onLink: () => void;
  onDevices: () => void;
  onDisable: () => void;
}

export function PersonRow({ member, identities, mine, may, onEdit, onIdentities, onLink, onDevices, onDisable }: Props) {
  const text = useText();
  const parts = usePartsText();
  const words = useDeliveryText();
  const time = useTime();
  const { handle, name, email, role, groups, projects, created_at, disabled_at } = member;
  const button = (word: string, run: () => void) => <Button variant="default" size="compact-sm" aria-label={`${word}: ${handle}`} onClick={run}>{word}</Button>;
  return (
    <Row
      name={name ? `${name} (${handle})` : handle}
      inactive={disabled_at !== undefined}
      badges={
        <>
          <Badge tt="none" variant={role === 'admin' ? 'filled' : 'light'}>{parts[role]}</Badge>
          {mine && <Badge tt="none" variant="default">{text.you}</Badge>}
          {disabled_at && <Badge tt="none" color="gray" variant="outline">{text.disabled} {text.since(time.full(disabled_at))}</Badge>}
        </>
      }
      actions={may && (
        <>
          {!disabled_at && button(text.makeLink, onLink)}
          {button(text.edit, onEdit)}
          {button(text.identities, onIdentities)}
          {!mine && button(text.devices, onDevices)}
          {!mine && button(disabled_at ? text.enable : text.disable, onDisable)}
        </>
      )}
    >
      <div>{[email ?? text.noAddress, groups && groups.length > 0 && `${text.groups}: ${groups.join(', ')}`, text.joined(time.full(created_at))].filter(Boolean).join(' · ')}</div>
      {projects && <div>{Object.entries(projects).map(([project, inProject]) => text.inProject(roleWord(parts, inProject), project)).join(', ')}</div>}
      {identities.length > 0 && <div>{identities.map(({ kind, id, name: identityWords }) => text.knownAs(kindName(words, kind), identityWords || id)).join(' · ')}</div>}
    </Row>
  );
}
