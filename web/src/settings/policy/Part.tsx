import { Fieldset, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows fields that belong together, with a text that explains them. */
export function Part({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <Fieldset legend={title} fw={600}>
      <Stack gap="md" fw={400}>
        <Text size="sm" c="dimmed" maw={640}>{about}</Text>
        {children}
      </Stack>
    </Fieldset>
  );
}
