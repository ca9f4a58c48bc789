import { Badge, Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import type { Invitation } from '@/api/types';
import { useTime } from '@/text/time';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Confirm } from '../parts/Confirm';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { useText as usePartsText } from '../parts/text';
import { invitationsQuery } from '../queries';
import { useText } from './text';

/** Shows the invitations that are not accepted yet, or nothing if there are none. */
export function Invitations() {
  const text = useText();
  const parts = usePartsText();
  const time = useTime();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(invitationsQuery);
  const [withdrawing, setWithdrawing] = useState<Invitation>();
  const withdraw = async ({ id }: Invitation) => {
    await unwrap(api.DELETE('/v1/invitations/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: invitationsQuery.queryKey });
  };
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data?.items.length) return null;
  return (
    <Section title={text.invitations} about={text.invitationsAbout}>
      <Rows label={text.invitations}>
        {data.items.map((invitation) => (
          <Row
            key={invitation.id}
            name={invitation.handle}
            badges={<Badge tt="none" variant="light">{parts[invitation.role ?? 'responder']}</Badge>}
            actions={<Button variant="default" size="compact-sm" aria-label={`${text.withdraw}: ${invitation.handle ?? ''}`} onClick={() => setWithdrawing(invitation)}>{text.withdraw}</Button>}
          >
            {invitation.email && `${invitation.email} · `}{text.invited(invitation.created_by.name ?? '?', time.full(invitation.expires_at))}
          </Row>
        ))}
      </Rows>
      {withdrawing && (
        <Confirm title={text.withdrawTitle} confirmLabel={text.withdraw} run={() => withdraw(withdrawing)} onClose={() => setWithdrawing(undefined)}>{text.withdrawAbout}</Confirm>
      )}
    </Section>
  );
}
