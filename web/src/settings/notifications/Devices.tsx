import { Alert, Badge, Button, Group, Paper, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Device } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { addDevice, pushState, removeDevice, removeThisDevice, type PushState } from '@/push/device';
import { useTime } from '@/text/time';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { browserName } from '../me/browser';
import { Confirm } from '../parts/Confirm';
import { EmptyList } from '../parts/EmptyList';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { devicesQuery } from '../queries';
import { useText } from './text';
import { TestButton } from './TestButton';

const thisDeviceKey = ['devices', 'here'];

/** Shows the reader's browsers that get push messages. */
export function Devices({ member }: { member: string }) {
  const text = useText();
  const { data, error, refetch } = useQuery(devicesQuery);
  const { data: thisDevice } = useQuery({ queryKey: thisDeviceKey, queryFn: () => pushState(member) });
  // The device may have been removed in another browser.
  const known = !data || data.items.some(({ id }) => id === thisDevice?.device?.id);
  return (
    <Section title={text.title} about={text.about} actions={data && data.items.length > 0 && <TestButton />}>
      {thisDevice && <ThisDevice state={thisDevice.state === 'on' && !known ? 'off' : thisDevice.state} member={member} />}
      <Title order={3} size="h5" mt="sm">{text.devices}</Title>
      <Text size="sm" c="dimmed">{text.devicesAbout}</Text>
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data?.items.length === 0 && <EmptyList>{text.noDevices}</EmptyList>}
      {data && data.items.length > 0 && <List devices={data.items} here={thisDevice?.device?.id} />}
    </Section>
  );
}

/** Turns messages to this browser on or off. The browser asks for permission only after a press. */
function ThisDevice({ state, member }: { state: PushState; member: string }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const refresh = () => Promise.all([client.invalidateQueries({ queryKey: thisDeviceKey }), client.invalidateQueries({ queryKey: devicesQuery.queryKey })]);
  const turn = useMutation({
    mutationFn: async () => (state === 'on' ? removeThisDevice().then(() => 'removed' as const) : addDevice(browserName(navigator.userAgent) ?? text.here, member)),
    onSuccess: (result) => {
      if (result === 'added') notifications.show({ message: text.turnedOn, closeButtonProps: { 'aria-label': parts.close } });
    },
    onSettled: refresh,
  });
  const words = { on: text.deviceOn, off: text.deviceOff, denied: text.deviceDenied, unsupported: text.deviceUnsupported, install: text.deviceInstall };
  const possible = state === 'on' || state === 'off';
  useCommands([{ id: 'push-here', title: state === 'on' ? text.turnOff : text.turnOn, group: text.title, keys: ['p'], run: () => turn.mutate() }], possible);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="this-device">
      <Group justify="space-between" gap="sm">
        <div>
          <Group gap="xs"><Icon name="bell" size={16} /><Title order={3} size="h5" id="this-device">{text.thisDevice}</Title></Group>
          <Text size="sm" role="status">{words[state]}</Text>
        </div>
        {possible && (
          <Button variant={state === 'on' ? 'default' : 'filled'} loading={turn.isPending} onClick={() => turn.mutate()}>{state === 'on' ? text.turnOff : text.turnOn}</Button>
        )}
      </Group>
      {turn.data === 'denied' && <Alert mt="sm" color="orange" role="alert">{text.refused}</Alert>}
      {turn.error && (turn.error instanceof DOMException ? <Alert mt="sm" color="orange" role="alert">{text.failed}</Alert> : <ErrorAlert error={turn.error} />)}
    </Paper>
  );
}

function List({ devices, here }: { devices: readonly Device[]; here?: string }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const client = useQueryClient();
  const [removing, setRemoving] = useState<Device>();
  const remove = async ({ id }: Device) => {
    await removeDevice(id);
    await Promise.all([client.invalidateQueries({ queryKey: thisDeviceKey }), client.invalidateQueries({ queryKey: devicesQuery.queryKey })]);
  };
  return (
    <Rows label={text.devices}>
      {devices.map((device) => (
        <Row
          key={device.id} name={device.name || device.endpoint} badges={device.id === here && <Badge tt="none" variant="default">{text.here}</Badge>}
          actions={<Button variant="default" size="compact-sm" aria-label={`${text.remove}: ${device.name}`} onClick={() => setRemoving(device)}>{text.remove}</Button>}
        >
          {[text.added(time.full(device.added_at)), device.last_sent_at ? text.lastSent(time.relative(device.last_sent_at, now)) : text.neverSent, device.endpoint].join(' · ')}
        </Row>
      ))}
      {removing && <Confirm title={text.removeTitle} confirmLabel={text.remove} run={() => remove(removing)} onClose={() => setRemoving(undefined)}>{text.removeAbout(removing.name)}</Confirm>}
    </Rows>
  );
}
