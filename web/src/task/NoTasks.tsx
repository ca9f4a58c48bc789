import { Button, Code, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { countFilters, type Filters } from './filters';
import { useTaskText } from './text';

/** Shows an empty list of tasks: why it is empty, and what to do. */
export function NoTasks({ filters }: { filters: Filters }) {
  const text = useTaskText();
  if (countFilters(filters) > 0) {
    return (
      <Stack align="center" p="xl" role="status">
        <Text>{text.nothingFound}</Text>
        <Button variant="default" renderRoot={(props) => <Link to="/tasks" search={(now) => ({ view: now.view })} {...props} />}>{text.clearFilters}</Button>
      </Stack>
    );
  }
  return (
    <Stack align="center" p="xl" role="status" ta="center">
      <Text fw={600}>{text.noTasks}</Text>
      <Text size="sm" c="dimmed">{text.noTasksHow}</Text>
      <Code block maw="100%">fermata create &quot;Update the dependencies&quot;</Code>
      <Button renderRoot={(props) => <Link to="/tasks/new" {...props} />}>{text.newTask}</Button>
    </Stack>
  );
}
