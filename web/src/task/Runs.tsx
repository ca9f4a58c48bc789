import { Anchor, Badge, Group, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { useNow } from '@/ui/useNow';
import type { Run } from './api';
import { usePageText } from './pageText';
import classes from './thread.module.css';
import { roughDuration } from './waiting';

/** Shows every run of a task, the latest first. */
export function Runs({ runs }: { runs: readonly Run[] }) {
  const text = usePageText();
  if (runs.length === 0) return <Text c="dimmed">{text.noRuns}</Text>;
  return (
    <Stack component="ol" gap="sm" p={0} m={0} className={classes.thread} aria-label={text.runs}>
      {[...runs].reverse().map((run) => <li key={run.id} className={classes.post}><RunCard run={run} /></li>)}
    </Stack>
  );
}

function RunCard({ run }: { run: Run }) {
  const text = usePageText();
  const times = useTime();
  const now = useNow();
  const running = run.state === 'running';
  const long = roughDuration((run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(run.started_at));
  const results: Record<string, string | undefined> = text.results;
  return (
    <Paper withBorder p="sm" className={classes.agent}>
      <Group gap="xs" mb={4}>
        <Icon name="robot" size={16} />
        <Text fw={600}>{text.attemptBy(run.attempt, run.worker || text.actors.agent)}</Text>
        <Badge variant="default" size="sm" tt="none">{run.result ? (results[run.result] ?? run.result) : text.runStates[run.state]}</Badge>
      </Group>
      <Text size="sm" c="dimmed">{times.full(run.started_at)} · {running ? text.running(long) : text.lasted(long)}{run.runner && ` · ${run.runner}`}</Text>
      {run.summary && <Text size="sm" mt={4} className={classes.summary}><Visible text={run.summary} /></Text>}
      <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="." search={(at) => ({ ...at, part: 'log', run: run.id })} {...props} />}>{text.logOf(run.attempt)}</Anchor>
    </Paper>
  );
}
