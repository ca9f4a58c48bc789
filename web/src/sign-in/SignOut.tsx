import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { draftKeys } from '@/offline/owner';
import { flush, loadUnsent, type Entry } from '@/outbox/outbox';
import { Visible } from '@/text/Visible';
import { Dialog } from '@/ui/Dialog';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { signOut, type UnsentChoice } from './session';
import { useText } from './text';

/** The unsent work that a sign-out would delete. */
interface Loss {
  answers: readonly Entry[];
  drafts: number;
}

/** Signs this browser out. It asks before unsent work is lost. */
export function SignOut() {
  const text = useText();
  const [loss, setLoss] = useState<Loss>();
  const leave = useMutation({ mutationFn: signOut });
  const checkLoss = async () => {
    leave.reset();
    const found: Loss = { answers: await loadUnsent(), drafts: draftKeys().length };
    if (found.answers.length > 0 || found.drafts > 0) setLoss(found);
    else leave.mutate('discard');
  };
  return (
    <>
      <Button variant="default" loading={leave.isPending} onClick={() => void checkLoss()}>{text.signOut}</Button>
      {loss && <ConfirmSignOut loss={loss} onLoss={setLoss} leave={(what) => leave.mutate(what)} leaving={leave.isPending} error={leave.error} onClose={() => setLoss(undefined)} />}
      {!loss && leave.error && <ErrorAlert error={leave.error} onRetry={() => void checkLoss()} />}
    </>
  );
}

interface ConfirmSignOutProps {
  loss: Loss;
  onLoss: (loss: Loss) => void;
  leave: (what: UnsentChoice) => void;
  leaving: boolean;
  error: Error | null;
  onClose: () => void;
}

function ConfirmSignOut({ loss, onLoss, leave, leaving, error, onClose }: ConfirmSignOutProps) {
  const text = useText();
  const { answers } = loss;
  const send = useMutation({
    mutationFn: async () => {
      await flush();
      return loadUnsent();
    },
    onSuccess: (unsent) => {
      onLoss({ ...loss, answers: unsent });
      if (unsent.length === 0 && loss.drafts === 0) leave('discard');
    },
  });
  return (
    <Dialog opened onClose={onClose} title={text.signOutTitle} closeOnClickOutside={false}>
      <Stack>
        {answers.length > 0 && (
          <Alert color="orange" role="alert" title={text.unsent(answers.length)}>
            <List size="sm">
              {answers.map((entry) => <List.Item key={entry.key}>{entry.said} · <Visible text={entry.title} /></List.Item>)}
            </List>
            {send.isSuccess && <Text size="sm" mt="xs">{text.stillUnsent}</Text>}
          </Alert>
        )}
        {loss.drafts > 0 && <Text>{text.begunGoes(loss.drafts)}</Text>}
        {error && <ErrorAlert error={error} />}
        {answers.length > 0 ? (
          <Stack gap="xs">
            <Button loading={send.isPending} onClick={() => send.mutate()} data-autofocus>{text.sendFirst}</Button>
            <Button variant="default" loading={leaving} onClick={() => leave('keep')}>{text.leaveKeep}</Button>
            <Text size="sm" c="dimmed">{text.leaveKeepAbout}</Text>
            <Button color="red" variant="light" loading={leaving} onClick={() => leave('discard')}>{text.leaveDiscard(answers.length)}</Button>
            <Button variant="subtle" onClick={onClose}>{text.stay}</Button>
          </Stack>
        ) : (
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} data-autofocus>{text.stay}</Button>
            <Button loading={leaving} onClick={() => leave('discard')}>{text.signOut}</Button>
          </Group>
        )}
      </Stack>
    </Dialog>
  );
}
