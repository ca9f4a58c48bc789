import { Alert, Button, Code, Divider, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Whoami } from '@/api/types';
import { Icon } from '@/ui/Icon';
import { Trouble } from '@/ui/Trouble';
import { Waiting } from '@/ui/Waiting';
import { methodsQuery, oidcStart } from './calls';
import { MailForm } from './MailForm';
import { PasskeyButton } from './PasskeyButton';
import { useText } from './text';

interface Props {
  onSignedIn: (me: Whoami) => void;
  /** The path to which another site leads back. */
  path: string;
  /** Whether the methods are shown over a page that must stay. Other sites then open in a new tab. */
  stay?: boolean;
}

/** Shows the ways to sign in that this server offers. */
export function Methods({ onSignedIn, path, stay }: Props) {
  const text = useText();
  const { data, error, refetch } = useQuery(methodsQuery);
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Waiting />;
  if (data.single_user) return <Alert>{text.singleUser}</Alert>;
  const some = data.passkey || data.oidc !== undefined;
  return (
    <Stack>
      {data.passkey && <PasskeyButton onSignedIn={onSignedIn} />}
      {data.oidc && (
        <div>
          <Button component="a" href={oidcStart(path, stay)} target={stay ? '_blank' : undefined} fullWidth size="md" variant="default" leftSection={<Icon name="person" />}>
            {text.byOidc(data.oidc.name)}
          </Button>
          {stay && <Text size="xs" c="dimmed" ta="center" mt={4}>{text.openElsewhere}</Text>}
        </div>
      )}
      {some && data.email && <Divider label={text.or} />}
      {data.email && <MailForm stay={stay} />}
      {!some && !data.email && <Text>{text.onlyLinks}</Text>}
      <MakeLink title={some || data.email ? text.noLinkAbout : text.onlyLinksHow} />
    </Stack>
  );
}

function MakeLink({ title }: { title: string }) {
  return (
    <Text size="sm" c="dimmed" component="div">
      {title}
      <Code block mt={4} tabIndex={0}>fermata member link HANDLE</Code>
    </Text>
  );
}
