import { Button, Code, CopyButton, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useText } from './text';

const command = 'fermata ask "Which colour shall it be?" --option red --option blue --wait';

/** Shows the empty inbox: what will appear here, or that the filters hide everything. */
export function EmptyInbox({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  const text = useText();
  if (filtered) {
    return (
      <Stack align="center" p="xl">
        <Text>{text.emptyFiltered}</Text>
        <Button variant="default" onClick={onClear}>{text.clear}</Button>
      </Stack>
    );
  }
  return (
    <Paper withBorder p={{ base: 'md', sm: 'xl' }}>
      <Stack align="center" gap="sm" miw={0}>
        <img src="/icon.svg" alt="" width={56} height={56} />
        <Title order={2} size="h3">{text.empty}</Title>
        <Text ta="center">{text.emptyHow}</Text>
        <Group gap="xs" justify="center">
          <Code block tabIndex={0} maw="100%" style={{ whiteSpace: 'pre-wrap' }}>{command}</Code>
          <CopyButton value={command}>{({ copied, copy }) => <Button variant="default" onClick={copy}>{copied ? text.copied : text.copy}</Button>}</CopyButton>
        </Group>
        <Text size="sm" c="dimmed" ta="center">{text.emptyThen}</Text>
      </Stack>
    </Paper>
  );
}
