import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { moveRun, useRefetch } from './api';
import { mayDefine } from './rights';
import { useText } from './text';
import type { Run } from './types';

/** Lets the reader move a run to the newest definition. If the server refuses, the differences are shown below. */
export function MoveButton({ run }: { run: Run }) {
  const text = useText();
  const renew = useRefetch();
  const { data: me } = useQuery(whoamiQuery);
  const move = useMutation({
    mutationFn: () => moveRun(run.id),
    onSuccess: () => {
      notifications.show({ message: text.moved, closeButtonProps: { 'aria-label': text.close } });
      return renew.runs();
    },
  });
  if (!mayDefine(me, run.project) || run.state === 'done') return null;
  return (
    <>
      <Button size="compact-sm" mih={32} variant="default" w="fit-content" loading={move.isPending} onClick={() => move.mutate()}>{text.move}</Button>
      {move.error && <ErrorAlert error={move.error} />}
    </>
  );
}
