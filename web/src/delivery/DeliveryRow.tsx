import { Alert, Anchor, Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '@/api/client';
import type { Delivery } from '@/api/types';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { ExpandableRow } from '@/ui/ExpandableRow';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import classes from './Delivery.module.css';
import { deliveryQuery } from './queries';
import { channelName, reasonWords, useText } from './text';

const colours = { waiting: 'gray', sent: 'green', failed: 'orange', dead: 'red', skipped: 'gray' } as const;

interface Props {
  delivery: Delivery;
  /** Whether the reader may send the message again. */
  mayResend: boolean;
  /** Whether the row stands among messages about other questions. */
  inLog?: boolean;
}

/** Shows one delivery: its channel, its recipient and its state. A press opens all its data. */
export function DeliveryRow({ delivery, mayResend, inLog }: Props) {
  const text = useText();
  const { channel, kind, member, state, purpose } = delivery;
  return (
    <ExpandableRow
      summary={
        <>
          <span className={classes.where}>{channelName(text, { name: channel, kind })}</span>
          <Text span size="sm">{member ?? text.everybody}</Text>
          {(inLog === true || purpose !== 'asked') && <Badge variant="default" tt="none">{text[`purpose_${purpose}`]}</Badge>}
          <Badge variant="light" tt="none" color={colours[state]} autoContrast>{text[state]}</Badge>
          <Facts delivery={delivery} />
        </>
      }
    >
      {() => <Details delivery={delivery} mayResend={mayResend} inLog={inLog} />}
    </ExpandableRow>
  );
}

const ends = ['answered', 'timed_out', 'cancelled'] as const;
const isEnd = (status: string | undefined): status is (typeof ends)[number] => ends.some((end) => end === status);

/** Shows the times of a delivery, and why it waits or was skipped. */
function Facts({ delivery }: { delivery: Delivery }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const { state, reason, next_at, sent_at, updated_at, created_at, last_error, shows } = delivery;
  const facts = [
    time.relative(sent_at ?? created_at, now),
    state === 'sent' && updated_at && isEnd(shows) && text[`shows_${shows}`],
    (state === 'waiting' || state === 'skipped') && reason && reasonWords(text, reason),
    next_at && (state === 'waiting' || state === 'failed') && text.nextAt(time.relative(next_at, now)),
    (state === 'failed' || state === 'dead') && last_error,
  ].filter((fact): fact is string => typeof fact === 'string' && fact !== '');
  return <Text span size="sm" c="dimmed" className={classes.facts}><Visible text={facts.join(' · ')} /></Text>;
}

function Details({ delivery, mayResend, inLog }: Props) {
  const text = useText();
  const time = useTime();
  const client = useQueryClient();
  const { data = delivery, error, isPending } = useQuery(deliveryQuery(delivery.id));
  const redeliver = useMutation({
    mutationFn: () => unwrap(api.POST('/v1/deliveries/{id}/redeliver', { params: { path: { id: delivery.id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  return (
    <Stack gap="sm">
      {error && <ErrorAlert error={error} />}
      {isPending && <Loading />}
      {data.history && data.history.length > 0 && (
        <div>
          <Text size="sm" fw={600}>{text.history}</Text>
          <ol className={classes.history}>
            {data.history.map(({ at, what, error: why }) => (
              <Text component="li" size="sm" key={`${at}${what}`}>
                {time.full(at)}: {text[`what_${what}`]}{why && <> – <Visible text={reasonWords(text, why)} /></>}
              </Text>
            ))}
          </ol>
        </div>
      )}
      {data.content && (
        <div>
          <Text size="sm" fw={600} id={`content-${data.id}`}>{text.content}</Text>
          <Code block className={classes.content} tabIndex={0} role="region" aria-labelledby={`content-${data.id}`}><Visible text={data.content} /></Code>
        </div>
      )}
      {redeliver.error && <ErrorAlert error={redeliver.error} />}
      {redeliver.isSuccess && <Alert color="green" role="status">{text.againWaits}</Alert>}
      <Group gap="md">
        {mayResend && data.state !== 'waiting' && <Button variant="default" size="compact-sm" loading={redeliver.isPending} onClick={() => redeliver.mutate()}>{text.again}</Button>}
        {inLog && data.question_id && <Anchor size="sm" renderRoot={(props) => <Link to="/questions/$id" params={{ id: data.question_id ?? '' }} {...props} />}>{text.openQuestion}</Anchor>}
        <Text size="sm" c="dimmed">{data.id}</Text>
      </Group>
    </Stack>
  );
}
