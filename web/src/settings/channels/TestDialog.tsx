import { Alert, Button, Group, List, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import type { Channel } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useText as usePartsText } from '../parts/text';
import { membersQuery } from '../queries';
import { useText } from './text';

/** Tests a channel and shows what keeps it from working, with the remedies. */
export function TestDialog({ channel: { name, kind }, onClose }: { channel: Channel; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const { data: members } = useQuery(membersQuery);
  const [to, setTo] = useState<string>();
  // A callback goes to the asker, so it reaches no member.
  const toPeople = kind !== 'callback';
  const chosen = toPeople ? (to ?? me?.name ?? '') : '';
  const test = useMutation({
    mutationFn: () => unwrap(api.POST('/v1/channels/{name}/test', { params: { path: { name } }, body: chosen ? { to: chosen } : {} })),
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: ['channels'] }), client.invalidateQueries({ queryKey: ['deliveries'] })]),
  });
  const people = (members?.items ?? []).filter(({ disabled_at }) => !disabled_at).map(({ handle }) => ({ value: handle, label: handle === me?.name ? `${text.testToMe} (${handle})` : handle }));
  return (
    <Dialog opened onClose={onClose} title={text.testTitle(name)}>
      <Stack>
        <Text size="sm">{toPeople ? text.testAbout : text.testAboutOutcomes}</Text>
        {toPeople && <Select label={text.testTo} searchable allowDeselect={false} value={chosen} data={people} onChange={(value) => setTo(value ?? undefined)} />}
        {test.error && <ErrorAlert error={test.error} />}
        {test.data && (
          <Alert role="status" color={test.data.ok ? 'green' : 'red'} icon={<Icon name={test.data.ok ? 'check' : 'warning'} />} title={test.data.ok ? text.testOk : text.testFails}>
            {test.data.ok && test.data.delivery_id && <Text size="sm">{text.testSent}</Text>}
            {test.data.problems.length > 0 && (
              <List size="sm">
                {test.data.problems.map(({ message, hint }) => <List.Item key={message}>{message}{hint && <Text size="sm" fw={600}>{hint}</Text>}</List.Item>)}
              </List>
            )}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>{parts.close}</Button>
          <Button loading={test.isPending} onClick={() => test.mutate()} data-autofocus>{text.testRun}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
