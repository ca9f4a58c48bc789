import { Center, Loader, VisuallyHidden } from '@mantine/core';
import { useText } from '@/shell/text';

/** Shows that something is being loaded. */
export function Loading() {
  const text = useText();
  return (
    <Center p="xl" role="status">
      <Loader />
      <VisuallyHidden>{text.loading}</VisuallyHidden>
    </Center>
  );
}
