import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows an empty list: the text says what would be in it. */
export function EmptyList({ children }: { children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Text c="dimmed">{children}</Text>
    </Paper>
  );
}
