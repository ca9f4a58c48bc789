import { Button, Group, Stack } from '@mantine/core';
import type { Link } from '@/api/types';
import { Dialog } from '@/ui/Dialog';
import { OneTimeSecret } from '../parts/OneTimeSecret';
import { useText as usePartsText } from '../parts/text';
import { useText } from './text';

/** Shows a sign-in link once. */
export function LinkDialog({ link, onClose }: { link: Link; onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const handle = link.member ?? '';
  return (
    <Dialog opened onClose={onClose} title={text.linkFor(handle)} closeOnClickOutside={false}>
      <Stack>
        <OneTimeSecret label={text.link} value={link.url ?? ''} about={text.linkAbout(handle)} />
        <Group justify="flex-end"><Button variant="default" onClick={onClose}>{parts.done}</Button></Group>
      </Stack>
    </Dialog>
  );
}
