import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type SubmitEvent } from 'react';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { sendLink } from './calls';
import { useText } from './text';

/** Sends a sign-in link to the reader's own mailbox. */
export function MailForm({ keepPage }: { keepPage?: boolean }) {
  const text = useText();
  const [email, setEmail] = useState('');
  const [wrong, setWrong] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const sending = useMutation({ mutationFn: sendLink });
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const good = /^[^\s@]+@[^\s@]+$/.test(email.trim());
    setWrong(!good);
    if (good) sending.mutate(email.trim());
    else input.current?.focus();
  }
  if (sending.isSuccess) {
    return (
      <Alert title={text.linkSent} icon={<Icon name="bell" />} role="status">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">{text.linkSentAbout(email.trim())}</Text>
          {keepPage && <Text size="sm">{text.linkSentDialog}</Text>}
          <Button size="compact-sm" variant="default" onClick={() => sending.reset()}>{text.otherAddress}</Button>
        </Stack>
      </Alert>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          ref={input} type="email" name="email" autoComplete="username webauthn" label={text.email} size="md" value={email}
          error={wrong ? text.notAnAddress : undefined} onChange={(event) => setEmail(event.currentTarget.value)}
        />
        {sending.error && <ErrorAlert error={sending.error} />}
        <Button type="submit" size="md" fullWidth variant="light" loading={sending.isPending}>{text.sendLink}</Button>
      </Stack>
    </form>
  );
}
