import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import type { BrowserSession, Member, Passkey } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { browserName } from '../me/browser';
import { PasskeyRow } from '../me/Passkeys';
import { SessionRow } from '../me/Sessions';
import { useText as useMyText } from '../me/text';
import { Confirm } from '../parts/Confirm';
import { Rows } from '../parts/Rows';
import { useText as usePartsText } from '../parts/text';
import { passkeysOf, sessionsOf } from '../queries';
import { useText } from './text';

type Ending = { passkey: Passkey } | { session: BrowserSession } | 'all';

/** Shows the devices with which a person signs in. An admin can end one that was lost. */
export function DevicesDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const text = useText();
  const browserText = useMyText();
  const parts = usePartsText();
  const passkeys = useQuery(passkeysOf(member.id));
  const sessions = useQuery(sessionsOf(member.id));
  const [ending, setEnding] = useState<Ending>();
  const name = (session: BrowserSession) => browserName(session.user_agent) ?? browserText.unknownBrowser;
  const error = passkeys.error ?? sessions.error;
  if (ending) return <ConfirmEnd member={member} ending={ending} name={name} onClose={() => setEnding(undefined)} />;
  return (
    <Dialog opened onClose={onClose} title={text.devicesTitle(member.handle)} size="lg">
      <Stack>
        {error ? <ErrorAlert error={error} /> : !(passkeys.data && sessions.data) ? <Loading /> : (
          <>
            <Title order={3} size="h6">{browserText.passkeys}</Title>
            {passkeys.data.items.length === 0 ? <Text size="sm" c="dimmed">{text.noPasskeysOf}</Text> : (
              <Rows label={browserText.passkeys}>
                {passkeys.data.items.map((passkey) => <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => setEnding({ passkey })} />)}
              </Rows>
            )}
            <Title order={3} size="h6">{browserText.sessions_of}</Title>
            {sessions.data.items.length === 0 ? <Text size="sm" c="dimmed">{text.noSessionsOf}</Text> : (
              <Rows label={browserText.sessions_of}>
                {sessions.data.items.map((session) => <SessionRow key={session.id} session={session} name={name(session)} onEnd={() => setEnding({ session })} />)}
              </Rows>
            )}
          </>
        )}
        <Group justify="flex-end">
          {sessions.data && sessions.data.items.length > 1 && <Button variant="default" onClick={() => setEnding('all')}>{text.endAll}</Button>}
          <Button variant="default" onClick={onClose} data-autofocus>{parts.done}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

interface ConfirmEndProps {
  member: Member;
  ending: Ending;
  name: (session: BrowserSession) => string;
  onClose: () => void;
}

function ConfirmEnd({ member: { id, handle }, ending, name, onClose }: ConfirmEndProps) {
  const text = useText();
  const browserText = useMyText();
  const client = useQueryClient();
  const run = async (call: Promise<unknown>) => {
    await call;
    await client.invalidateQueries({ queryKey: ['members', id] });
  };
  if (ending === 'all') {
    return (
      <Confirm title={text.endAllTitle(handle)} confirmLabel={text.endAll} run={() => run(unwrap(api.DELETE('/v1/members/{id}/sessions', { params: { path: { id } } })))} onClose={onClose}>
        {text.endAllAbout}
      </Confirm>
    );
  }
  if ('passkey' in ending) {
    const { passkey } = ending;
    return (
      <Confirm title={text.removeKeyTitle(passkey.name)} confirmLabel={browserText.remove} run={() => run(unwrap(api.DELETE('/v1/passkeys/{id}', { params: { path: { id: passkey.id } } })))} onClose={onClose}>
        {text.removeKeyAbout(handle)}
      </Confirm>
    );
  }
  const { session } = ending;
  return (
    <Confirm title={text.endOneTitle} confirmLabel={browserText.end} run={() => run(unwrap(api.DELETE('/v1/sessions/{id}', { params: { path: { id: session.id } } })))} onClose={onClose}>
      {text.endOneAbout(name(session), handle)}
    </Confirm>
  );
}
