import { Alert, Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Whoami } from '@/api/types';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { supportsPasskeys, signInByPasskey, stoppedByDevice } from './passkey';
import { useText } from './text';

/** Signs in with a passkey, if the browser supports passkeys. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: (me: Whoami) => void }) {
  const text = useText();
  const use = useMutation({ mutationFn: signInByPasskey, onSuccess: onSignedIn });
  if (!supportsPasskeys()) return null;
  return (
    <Stack gap="xs">
      <Button size="md" fullWidth loading={use.isPending} leftSection={<Icon name="key" />} onClick={() => use.mutate()} data-autofocus>{text.byPasskey}</Button>
      {use.error && (stoppedByDevice(use.error) ? <Alert color="orange" role="alert">{text.passkeyRefused}</Alert> : <ErrorAlert error={use.error} />)}
    </Stack>
  );
}
