import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** An empty list says what would stand in it. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Text c="dimmed">{children}</Text>
    </Paper>
  );
}
