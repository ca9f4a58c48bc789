import { Alert, Button, Code, CopyButton, Stack, Text } from '@mantine/core';
import { Icon } from '@/ui/Icon';
import classes from './Rows.module.css';
import { useText } from './text';

/** Shows a secret that can be seen only this once. */
export function OneTimeSecret({ label, value, about }: { label: string; value: string; about: string }) {
  const text = useText();
  return (
    <Stack gap="sm">
      <Alert icon={<Icon name="warning" />} color="orange" role="status">{about}</Alert>
      <div>
        <Text size="sm" fw={600} id="secret-label">{label}</Text>
        <Code block className={classes.secret} aria-labelledby="secret-label" tabIndex={0} role="textbox" aria-readonly="true" data-secret>{value}</Code>
      </div>
      <CopyButton value={value} timeout={4000}>
        {({ copied, copy }) => (
          <Button onClick={copy} leftSection={<Icon name={copied ? 'check' : 'copy'} />} data-autofocus>
            <span role="status">{copied ? text.copied : text.copy}</span>
          </Button>
        )}
      </CopyButton>
    </Stack>
  );
}
