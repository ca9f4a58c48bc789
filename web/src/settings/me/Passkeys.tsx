import { Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { serverNow } from '@/api/time';
import type { Passkey } from '@/api/types';
import { methodsQuery } from '@/sign-in/calls';
import { supportsPasskeys } from '@/sign-in/passkey';
import { useTime } from '@/text/time';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { EmptyList } from '../parts/EmptyList';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { passkeysQuery } from '../queries';
import { PasskeyDialog } from './PasskeyDialog';
import { useText } from './text';

/** Shows the reader's passkeys. */
export function Passkeys() {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const { data: methods } = useQuery(methodsQuery);
  const { data, error, refetch } = useQuery(passkeysQuery);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const work = supportsPasskeys() && methods?.passkey;
  const remove = async ({ id }: Passkey) => {
    await unwrap(api.DELETE('/v1/passkeys/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: passkeysQuery.queryKey });
  };
  const added = () => {
    setAdding(false);
    notifications.show({ message: text.passkeyAdded, closeButtonProps: { 'aria-label': parts.close } });
    void client.invalidateQueries({ queryKey: passkeysQuery.queryKey });
  };
  return (
    <Section
      title={text.passkeys} about={text.passkeysAbout}
      actions={work && <Button leftSection={<Icon name="key" />} onClick={() => setAdding(true)}>{text.addPasskey}</Button>}
    >
      {methods && !work && <Text size="sm">{text.noPasskeysHere}</Text>}
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data?.items.length === 0 && work && <EmptyList>{text.noPasskeys}</EmptyList>}
      {data && data.items.length > 0 && (
        <Rows label={text.passkeys}>
          {data.items.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => setRemoving(passkey)} />
          ))}
        </Rows>
      )}
      {adding && <PasskeyDialog onAdded={added} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm title={text.removeTitle} confirmLabel={text.remove} run={() => remove(removing)} onClose={() => setRemoving(undefined)}>{text.removeAbout(removing.name)}</Confirm>
      )}
    </Section>
  );
}

/** Shows one passkey of a person. */
export function PasskeyRow({ passkey: { name, created_at, last_used_at }, onRemove }: { passkey: Passkey; onRemove: () => void }) {
  const text = useText();
  const time = useTime();
  return (
    <Row name={name} actions={<Button variant="default" size="compact-sm" aria-label={`${text.remove}: ${name}`} onClick={onRemove}>{text.remove}</Button>}>
      {text.made(time.full(created_at))} · {last_used_at ? text.lastSeen(time.relative(last_used_at, serverNow())) : text.neverUsed}
    </Row>
  );
}
