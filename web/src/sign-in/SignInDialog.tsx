import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import { Dialog } from '@/ui/Dialog';
import { Methods } from './Methods';
import { recordSignIn } from './session';
import { useText } from './text';

/** Signs the reader in over the page, which keeps everything typed. */
export default function SignInDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { data: me } = useQuery({ ...whoamiQuery, enabled: false });
  return (
    <Dialog opened onClose={onClose} title={text.again} closeOnClickOutside={false}>
      <Stack>
        <Text>{text.sessionEnded} {me && text.whoYouWere(me.name)}</Text>
        <Methods keepPage path="/" onSignedIn={(who) => {
          recordSignIn(who);
          onClose();
        }} />
      </Stack>
    </Dialog>
  );
}
