import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import type { Channel, ChannelKind } from '@/api/types';
import { kindName, useText as useDeliveryText } from '@/delivery/text';
import { useCommands } from '@/keys/useCommands';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { OneTimeSecret } from '../parts/OneTimeSecret';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { channelKindsQuery, channelsQuery } from '../queries';
import { stepAt } from '../routes/route';
import { ChannelDialog } from './ChannelDialog';
import { ChannelRow } from './ChannelRow';
import { aboutOf } from './schema';
import { TestDialog } from './TestDialog';
import { useText } from './text';

type OpenDialog = { what: 'choose' } | { what: 'add'; kind: ChannelKind } | { what: 'edit'; channel: Channel; kind: ChannelKind } | { what: 'test' | 'remove' | 'once'; channel: Channel } | undefined;

/** Shows the channels of the workspace with their health. */
export default function Channels() {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(channelsQuery);
  const { data: kinds } = useQuery(channelKindsQuery);
  const [doing, setDoing] = useState<OpenDialog>();
  const [trouble, setTrouble] = useState<unknown>();
  const close = () => setDoing(undefined);
  const addable = kinds?.items.filter((kind) => !kind.built_in) ?? [];
  useCommands([{ id: 'add-channel', title: text.add, group: text.title, keys: ['n'], run: () => setDoing({ what: 'choose' }) }], addable.length > 0);
  const change = async (call: Promise<unknown>) => {
    setTrouble(undefined);
    try {
      await call;
    } catch (refused) {
      setTrouble(refused);
    }
    await client.invalidateQueries({ queryKey: ['channels'] });
  };
  const [remaining, setRemaining] = useState<readonly string[]>([]);
  const turn = ({ name, enabled }: Channel) => change(
    unwrap(api.PATCH('/v1/channels/{name}', { params: { path: { name } }, body: { enabled: !enabled } })).then((changed) => { setRemaining(changed.left_routes ?? []); }),
  );
  const remove = async ({ name }: Channel) => {
    const removed = await unwrap(api.DELETE('/v1/channels/{name}', { params: { path: { name } } }));
    setRemaining(removed.left_routes);
    await client.invalidateQueries({ queryKey: ['channels'] });
  };
  const edit = (channel: Channel) => {
    const kind = kinds?.items.find((each) => each.kind === channel.kind);
    if (kind) setDoing({ what: 'edit', channel, kind });
  };
  const saved = (channel: Channel, isNew: boolean) => {
    notifications.show({ message: isNew ? text.added : text.saved, closeButtonProps: { 'aria-label': parts.close } });
    // A secret that the server generated is shown only this once.
    if (secretsIn(channel, kinds?.items).length > 0) setDoing({ what: 'once', channel });
    else setDoing(isNew ? { what: 'test', channel } : undefined);
  };
  return (
    <Section
      title={text.title} about={text.about}
      actions={addable.length > 0 && <Button leftSection={<Icon name="plus" />} onClick={() => setDoing({ what: 'choose' })}>{text.add}</Button>}
    >
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {Boolean(trouble) && <ErrorAlert error={trouble} />}
      {data && (
        <Rows label={text.title}>
          {data.items.map((channel) => (
            <ChannelRow
              key={channel.id} channel={channel} onTest={() => setDoing({ what: 'test', channel })} onEdit={() => edit(channel)} onTurn={() => void turn(channel)}
              onRemove={() => setDoing({ what: 'remove', channel })}
            />
          ))}
        </Rows>
      )}
      {remaining.length > 0 && <RemainingRoutes steps={remaining} />}
      {doing?.what === 'choose' && <KindDialog kinds={addable} onChosen={(kind) => setDoing({ what: 'add', kind })} onClose={close} />}
      {doing?.what === 'add' && <ChannelDialog kind={doing.kind} name={freeName(doing.kind.kind, data?.items ?? [])} onSaved={(channel) => saved(channel, true)} onClose={close} />}
      {doing?.what === 'edit' && <ChannelDialog kind={doing.kind} channel={doing.channel} onSaved={(channel) => saved(channel, false)} onClose={close} />}
      {doing?.what === 'once' && <OnceDialog channel={doing.channel} secrets={secretsIn(doing.channel, kinds?.items)} onClose={() => setDoing({ what: 'test', channel: doing.channel })} />}
      {doing?.what === 'test' && <TestDialog channel={doing.channel} onClose={close} />}
      {doing?.what === 'remove' && (
        <Confirm title={text.removeTitle(doing.channel.name)} confirmLabel={text.remove} run={() => remove(doing.channel)} onClose={close}>{text.removeAbout}</Confirm>
      )}
    </Section>
  );
}

/** Warns of the steps of routes that send nothing, because their channel was turned off or removed. */
function RemainingRoutes({ steps }: { steps: readonly string[] }) {
  const text = useText();
  const delivery = useDeliveryText();
  const named = steps.map((name) => {
    const step = stepAt(name);
    return step ? text.leftStep(delivery[`type_${step.type}`], step.number) : name;
  });
  return (
    <Alert color="yellow" role="status">
      {text.leftRoutes(named.join(', '))}{' '}
      <Anchor inherit c="inherit" underline="always" renderRoot={(props) => <Link to="/settings/$section" params={{ section: 'routes' }} {...props} />}>{text.changeRoutes}</Anchor>
    </Alert>
  );
}

/** Returns the names of the secrets that the server generated. Only the reply to the change contains their values. */
const secretsIn = ({ kind, settings }: Channel, kinds: readonly ChannelKind[] = []) =>
  (kinds.find((each) => each.kind === kind)?.secrets ?? []).filter((secret) => typeof settings[secret] === 'string');

function OnceDialog({ channel, secrets, onClose }: { channel: Channel; secrets: readonly string[]; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  return (
    <Dialog opened onClose={onClose} title={channel.name} closeOnClickOutside={false}>
      <Stack>
        {secrets.map((secret) => <OneTimeSecret key={secret} label={secret} value={String(channel.settings[secret])} about={text.onceAbout} />)}
        <Group justify="flex-end"><Button variant="default" onClick={onClose}>{parts.done}</Button></Group>
      </Stack>
    </Dialog>
  );
}

/** Returns a name that no channel has yet: slack, slack-2 … */
function freeName(kind: string, channels: readonly Channel[]): string {
  const taken = (name: string) => channels.some((channel) => channel.name === name);
  let name = kind;
  for (let n = 2; taken(name); n++) name = `${kind}-${n}`;
  return name;
}

function KindDialog({ kinds, onChosen, onClose }: { kinds: readonly ChannelKind[]; onChosen: (kind: ChannelKind) => void; onClose: () => void }) {
  const text = useText();
  const words = useDeliveryText();
  return (
    <Dialog opened onClose={onClose} title={text.add} size="lg">
      <Stack>
        <Text size="sm">{text.which}</Text>
        <Rows label={text.which}>
          {kinds.map((kind) => (
            <Row key={kind.kind} name={kindName(words, kind.kind)} actions={<Button variant="default" size="compact-sm" aria-label={`${text.add}: ${kindName(words, kind.kind)}`} onClick={() => onChosen(kind)}>{text.add}</Button>}>
              {aboutOf(kind.schema)}
            </Row>
          ))}
        </Rows>
      </Stack>
    </Dialog>
  );
}
