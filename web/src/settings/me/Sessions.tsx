import { Badge, Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { serverNow } from '@/api/time';
import type { BrowserSession } from '@/api/types';
import { useTime } from '@/text/time';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { sessionsQuery } from '../queries';
import { browserName } from './browser';
import { useText } from './text';

/** Shows the browsers in which the reader is signed in. */
export function Sessions() {
  const text = useText();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(sessionsQuery);
  const [ending, setEnding] = useState<BrowserSession>();
  const name = (session: BrowserSession) => browserName(session.user_agent) ?? text.unknownBrowser;
  const end = async ({ id }: BrowserSession) => {
    await unwrap(api.DELETE('/v1/sessions/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  };
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  return (
    <Section title={text.sessions} about={text.sessionsAbout}>
      {data ? (
        <Rows label={text.sessions}>
          {data.items.map((session) => (
            <SessionRow key={session.id} session={session} name={name(session)} onEnd={() => setEnding(session)} />
          ))}
        </Rows>
      ) : <Loading />}
      {ending && (
        <Confirm title={text.endTitle} confirmLabel={text.end} run={() => end(ending)} onClose={() => setEnding(undefined)}>
          {text.endAbout(name(ending))}
        </Confirm>
      )}
    </Section>
  );
}

/** Shows one browser in which a person is signed in. */
export function SessionRow({ session, name, onEnd }: { session: BrowserSession; name: string; onEnd: () => void }) {
  const text = useText();
  const time = useTime();
  const ways = { link: text.byLink, email: text.byEmail, invitation: text.byInvitation, oidc: text.byOidc, passkey: text.byPasskey };
  return (
    <Row
      name={name}
      badges={session.current && <Badge tt="none" variant="light">{text.here}</Badge>}
      actions={!session.current && <Button variant="default" size="compact-sm" onClick={onEnd} aria-label={`${text.end}: ${name}`}>{text.end}</Button>}
    >
      {text.signedInBy(ways[session.method], time.full(session.created_at))} · {text.lastSeen(time.relative(session.last_seen_at, serverNow()))} · {text.endsAt(time.full(session.expires_at))}
    </Row>
  );
}
