import { Anchor, Box, Button, Collapse, Group, Paper, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Icon } from '@/ui/Icon';
import { useText } from './text';

interface Props {
  title: string;
  about?: string;
  csv: string;
  /** The chart. Without a chart the table is open. */
  chart?: ReactNode;
  table: ReactNode;
}

/** Shows one report: its chart, the table behind it, and the link to its CSV file. */
export function Report({ title, about, csv, chart, table }: Props) {
  const text = useText();
  const [shown, { toggle }] = useDisclosure(false);
  return (
    <Paper component="section" withBorder p="md" aria-label={title} miw={0}>
      <Group justify="space-between" align="flex-start" mb="sm" gap="xs">
        <Box flex="1 1 220px">
          <Title order={2} size="h4">{title}</Title>
          {about && <Text size="sm" c="dimmed">{about}</Text>}
        </Box>
        <Group gap="xs">
          {chart && <Button size="compact-sm" variant="default" onClick={toggle} aria-expanded={shown} aria-label={`${shown ? text.hideTable : text.showTable}: ${title}`}>{shown ? text.hideTable : text.showTable}</Button>}
          <Anchor href={csv} download aria-label={text.csvOf(title)} size="sm">
            <Group gap={4} wrap="nowrap" component="span"><Icon name="download" size={16} />{text.csv}</Group>
          </Anchor>
        </Group>
      </Group>
      {chart && <div role="img" aria-label={text.chart(title)}>{chart}</div>}
      {chart ? <Collapse expanded={shown}>{shown && <Box mt="sm">{table}</Box>}</Collapse> : table}
    </Paper>
  );
}
