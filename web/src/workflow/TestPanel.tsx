import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Suspense, useCallback, useEffect, useId, useRef, useState } from 'react';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { lazyComponent } from '@/ui/lazyComponent';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { schemaQuery, testWorkflow } from './api';
import { completeScript } from './complete';
import { Timeline } from './Timeline';
import { useText } from './text';
import type { Step, TestReport } from './types';
import classes from './Workflow.module.css';

const CodeField = lazyComponent(() => import('./CodeField').then((module) => module.CodeField));

/** Tests a definition with answers that the reader writes beside it. */
export function TestPanel({ source }: { source: string }) {
  const text = useText();
  const about = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const [script, setScript] = useState('');
  const test = useMutation({
    mutationFn: () => testWorkflow(source, script),
    onSuccess: (report) => { if (report.script) setScript(report.script); },
  });
  const { data: schema } = useQuery(schemaQuery);
  const words = useCallback((typed: string, offset: number) => completeScript(typed, offset, source, schema), [source, schema]);
  useEffect(() => title.current?.focus(), []);
  return (
    <section className={classes.two} data-editor data-test>
      <Stack gap="sm">
        <Title order={2} size="h5" ref={title} tabIndex={-1}>{text.test}</Title>
        <Text size="sm">{text.testAbout}</Text>
        <Suspense fallback={<Loading />}><CodeField value={script} set={setScript} label={text.script} describedBy={about} words={words} /></Suspense>
        <Text size="xs" c="dimmed" id={about}>{text.scriptAbout}</Text>
        <Group><Button variant="default" leftSection={<Icon name="play" size={14} />} onClick={() => test.mutate()} loading={test.isPending}>{text.runTest}</Button></Group>
        {test.error && <ErrorAlert error={test.error} />}
      </Stack>
      <div role="status">{test.data && <Outcome report={test.data} />}</div>
    </section>
  );
}

/** Shows the result of a test. */
function Outcome({ report: { passed, failures, warnings, run } }: { report: TestReport }) {
  const text = useText();
  return (
    <Stack gap="sm">
      {passed
        ? <Alert color="green" icon={<Icon name="check" />}>{text.testPassed}</Alert>
        : <Alert color="red" icon={<Icon name="warning" />} title={run ? text.testFailed : text.testWrong}>{run && failures?.map((failure) => <Text key={failure} size="sm"><Visible text={failure} /></Text>)}</Alert>}
      {warnings && <Alert color="yellow" icon={<Icon name="warning" />}>{warnings.map((warning) => <Text key={warning} size="sm"><Visible text={warning} /></Text>)}</Alert>}
      {run?.steps && <section><Title order={3} size="h6" mb="xs">{text.testSteps}</Title><Timeline steps={run.steps.map(withoutLinks)} /></section>}
    </Stack>
  );
}

/** Removes the links, because a test stores no questions and tasks. */
const withoutLinks = ({ question_id: _, child_id: __, ...step }: Step): Step => step;
