import { Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '@/settings/parts/Confirm';
import { OneTimeSecret } from '@/settings/parts/OneTimeSecret';
import { useTime } from '@/text/time';
import { Dialog } from '@/ui/Dialog';
import { Icon, type IconName } from '@/ui/Icon';
import { useNow } from '@/ui/useNow';
import { newSecret, useRefetch } from './api';
import { useText } from './text';
import type { Trigger, Workflow } from './types';
import { triggerWords } from './words';
import classes from './Workflow.module.css';

const icons: Record<Trigger['type'], IconName> = { manual: 'person', schedule: 'clock', webhook: 'chain', label_added: 'star', deployment: 'pause', event: 'bell' };

/** The text of a webhook trigger that takes requests without a signature. */
const unsigned = 'unsigned';

/** Lists what starts runs of a workflow, in words. */
export function Triggers({ triggers, children }: { triggers: readonly Trigger[]; children?: (trigger: Trigger) => React.ReactNode }) {
  const text = useText();
  if (triggers.length === 0) return <Text size="sm" c="dimmed">{text.noTriggers}</Text>;
  return (
    <ul className={classes.plain} aria-label={text.triggers}>
      {triggers.map((trigger, at) => (
        <li key={at}>
          <Group gap={8} wrap="nowrap" align="flex-start">
            <Text span mt={3} lh={0} c="dimmed" flex="none"><Icon name={icons[trigger.type]} size={15} /></Text>
            <Text size="sm" component="div" miw={0}>{triggerWords(trigger, text)}{trigger.next_at && <NextStart at={trigger.next_at} />}{children?.(trigger)}</Text>
          </Group>
        </li>
      ))}
    </ul>
  );
}

/** Shows when a schedule starts the next run, by the reader's clock. */
function NextStart({ at }: { at: string }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  return <Text span size="sm" c="dimmed">{', '}<time dateTime={at}>{text.next(time.full(at), time.relative(at, now))}</time></Text>;
}

/** Shows the address of the webhook, and lets the reader create a new secret for it. */
export function Webhook({ workflow, trigger, url, may }: { workflow: Workflow; trigger: Trigger; url: string; may: boolean }) {
  const text = useText();
  const isSigned = trigger.text !== unsigned;
  const renew = useRefetch();
  const [asked, setAsked] = useState(false);
  const [secret, setSecret] = useState('');
  const make = useMutation({ mutationFn: () => newSecret(workflow.name) });
  const run = async () => {
    const made = await make.mutateAsync();
    setSecret(made.secret ?? '');
    await renew.workflows();
  };
  return (
    <Stack gap={6} mt={4} align="flex-start">
      <Code className={classes.address} aria-label={text.address}>{url}</Code>
      <Text size="xs" c="dimmed">{isSigned ? (workflow.has_webhook_secret ? text.signed : text.noSecret) : text.unsigned}</Text>
      <Group gap="xs">
        <CopyButton value={url}>{({ copied, copy }) => <Button size="compact-sm" mih={30} variant="default" onClick={copy} leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}>{copied ? text.copied : text.copy}</Button>}</CopyButton>
        {may && isSigned && <Button size="compact-sm" mih={30} variant="default" onClick={() => setAsked(true)} leftSection={<Icon name="key" size={14} />}>{text.newSecret}</Button>}
      </Group>
      {asked && <Confirm title={text.newSecretTitle(workflow.name)} confirmLabel={text.newSecret} run={run} onClose={() => setAsked(false)}>{text.newSecretAbout}</Confirm>}
      {secret && <Dialog opened onClose={() => setSecret('')} title={text.secret} closeOnClickOutside={false}><OneTimeSecret label={text.secret} value={secret} about={text.secretAbout} /></Dialog>}
    </Stack>
  );
}
