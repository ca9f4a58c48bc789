import { Anchor, Badge, Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Channel } from '@/api/types';
import { kindName, useText as useDeliveryText } from '@/delivery/text';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { useNow } from '@/ui/useNow';
import { Row } from '../parts/Rows';
import { useText } from './text';

interface Props {
  channel: Channel;
  onTest: () => void;
  onEdit: () => void;
  onTurn: () => void;
  onRemove: () => void;
}

type Health = 'works' | 'fails' | 'off' | 'unused';
const colours: Record<Health, string> = { works: 'green', fails: 'red', off: 'gray', unused: 'gray' };

export function healthOf({ enabled, last_error, last_sent_at }: Channel): Health {
  if (!enabled) return 'off';
  if (last_error) return 'fails';
  return last_sent_at ? 'works' : 'unused';
}

/** Shows one channel, its health and its actions. */
export function ChannelRow({ channel, onTest, onEdit, onTurn, onRemove }: Props) {
  const text = useText();
  const words = useDeliveryText();
  const time = useTime();
  const now = useNow();
  const { name, kind, enabled, built_in, last_sent_at, last_error, last_error_at } = channel;
  const health = healthOf(channel);
  const button = (word: string, run: () => void) => <Button variant="default" size="compact-sm" aria-label={`${word}: ${name}`} onClick={run}>{word}</Button>;
  return (
    <Row
      name={name}
      badges={
        <>
          <Badge tt="none" variant="default">{kindName(words, kind)}</Badge>
          <Badge tt="none" variant="light" color={colours[health]} autoContrast>{text[health]}</Badge>
        </>
      }
      actions={
        <>
          {enabled && button(text.test, onTest)}
          {button(text.edit, onEdit)}
          {button(enabled ? text.turnOff : text.turnOn, onTurn)}
          {!built_in && button(text.remove, onRemove)}
        </>
      }
    >
      <div>
        {[built_in && text.builtIn, last_sent_at && text.lastSent(time.relative(last_sent_at, now)), settingsText(channel)].filter(Boolean).map((fact) => `${String(fact)} · `)}
        <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/settings/$section" params={{ section: 'deliveries' }} search={{ channel: name }} aria-label={`${text.log}: ${name}`} {...props} />}>{text.log}</Anchor>
      </div>
      {last_error && <div>{last_error_at && text.failed(time.relative(last_error_at, now))} <Visible text={last_error} /></div>}
    </Row>
  );
}

/** Returns at most three settings as one line. The settings that the server lists contain no secrets. */
function settingsText({ settings }: Channel): string {
  const words = Object.entries(settings).filter(([, value]) => typeof value === 'string' || typeof value === 'number').map(([key, value]) => `${key}: ${String(value)}`);
  return words.slice(0, 3).join(', ');
}
