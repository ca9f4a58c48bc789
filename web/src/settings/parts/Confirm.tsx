import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useCommands } from '@/keys/useCommands';
import { Dialog } from '@/ui/Dialog';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useText } from './text';

interface Props {
  title: string;
  /** The text that says what will happen. */
  children: ReactNode;
  /** The label of the button that confirms. */
  confirmLabel: string;
  run: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something is done that cannot be undone. */
export function Confirm({ title, children, confirmLabel, run, onClose }: Props) {
  const text = useText();
  const act = useMutation({ mutationFn: run, onSuccess: onClose });
  return (
    <Dialog opened onClose={onClose} title={title}>
      <Stack>
        <Text component="div">{children}</Text>
        {act.error && <ErrorAlert error={act.error} />}
        <Group justify="flex-end">
          <Keys run={() => act.mutate()} title={confirmLabel} />
          <Button variant="default" onClick={onClose} data-autofocus>{text.cancel}</Button>
          <Button color="red.9" loading={act.isPending} onClick={() => act.mutate()}>{confirmLabel}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Keys({ run, title }: { run: () => void; title: string }) {
  const text = useText();
  useCommands([{ id: 'confirm', title, group: text.dialog, keys: ['mod+Enter'], typing: true, run }]);
  return null;
}
