import { Box, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** One part of the settings: its title, its actions and its content. */
export function Section({ title, about, actions, children }: { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Box flex="1 1 260px">
          <Title order={2} size="h3">{title}</Title>
          {about && <Text size="sm" c="dimmed" maw={640}>{about}</Text>}
        </Box>
        {actions}
      </Group>
      {children}
    </Stack>
  );
}
