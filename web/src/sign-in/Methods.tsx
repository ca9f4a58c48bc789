import { Alert, Button, Code, Divider, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Whoami } from '@/api/types';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { methodsQuery, oidcStartAddress } from './calls';
import { MailForm } from './MailForm';
import { PasskeyButton } from './PasskeyButton';
import { useText } from './text';

interface Props {
  onSignedIn: (me: Whoami) => void;
  /** The path to open after a sign-in at another site. */
  path: string;
  /** Whether the methods are shown over a page that must stay. Other sites then open in a new tab. */
  keepPage?: boolean;
}

/** Shows the ways to sign in that this server offers. */
export function Methods({ onSignedIn, path, keepPage }: Props) {
  const text = useText();
  const { data, error, refetch } = useQuery(methodsQuery);
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.single_user) return <Alert>{text.singleUser}</Alert>;
  const hasButton = data.passkey || data.oidc !== undefined;
  return (
    <Stack>
      {data.passkey && <PasskeyButton onSignedIn={onSignedIn} />}
      {data.oidc && (
        <div>
          <Button component="a" href={oidcStartAddress(path, keepPage)} target={keepPage ? '_blank' : undefined} fullWidth size="md" variant="default" leftSection={<Icon name="person" />}>
            {text.byOidc(data.oidc.name)}
          </Button>
          {keepPage && <Text size="xs" c="dimmed" ta="center" mt={4}>{text.openElsewhere}</Text>}
        </div>
      )}
      {hasButton && data.email && <Divider label={text.or} />}
      {data.email && <MailForm keepPage={keepPage} />}
      {!hasButton && !data.email && <Text>{text.onlyLinks}</Text>}
      <MakeLink title={hasButton || data.email ? text.noLinkAbout : text.onlyLinksHow} />
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
